import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { allEvents, codeOf, eventsOf, runTurn, startSession, Watcher } from "../../../e2e/rpc/session-client.ts";
import { type Checks, check } from "../../corpus-case.ts";
import { envelope, grpcWeb } from "../../raw-wire.ts";
import { calledLast, scriptOf } from "../../tool-call.ts";

const touch = scriptOf([{ tool: "Bash", args: { command: "touch made" } }]);
const nobody = "00000000-0000-4000-8000-000000000000";

const made = (server: TestServer): boolean => existsSync(server.workspace.path("made"));

export const protocolSessionChecks: Checks = {
  "SES-006": check(async () => {
    // The policy speaks before the editor is asked, so that there is no request to answer.
    await using server = await startTestServer({
      files: { ".env": "KEY=1\n" },
      script: [scriptOf([{ tool: "Read", args: { file_path: ".env" } }])],
    });
    const sessionId = await startSession(server, { interactive: true });
    const events = await runTurn(server, sessionId, "go", {
      client: { clientId: "e", capabilities: { fileRead: true } },
    });
    assert.deepEqual([calledLast(events).code, eventsOf(events, "requestFileRead")], ["zero_access", []]);
  }),
  "SES-013": check(async () => {
    await using server = await startTestServer();
    const sessionId = await startSession(server);
    assert.match(sessionId, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    for (const guess of [nobody, sessionId.toUpperCase(), sessionId.slice(0, -1), `${sessionId} `, "%", "_"]) {
      assert.equal(await codeOf(server.client.getTodos({ sessionId: guess })), "not_found");
    }
  }),
  "SES-024": check(async () => {
    await using server = await startTestServer();
    const sessionId = await startSession(server);
    const known = Buffer.concat([Buffer.from([0x0a, sessionId.length]), Buffer.from(sessionId)]);
    const unknown = Buffer.from([0xfa, 0x3f, 3, 1, 2, 3, 0xc0, 0x3e, 1]);
    assert.equal((await grpcWeb(server, "GetTodos", envelope(Buffer.concat([known, unknown])))).code, "ok");
    // An event of a kind that this server does not know answers nothing.
    assert.equal(
      (await grpcWeb(server, "SubmitClientEvent", envelope(Buffer.concat([known, unknown])))).code,
      "invalid_argument",
    );
  }),
  "SES-025": check(async () => {
    await using server = await startTestServer({
      script: [scriptOf([{ tool: "Bash", args: { command: "touch made", approved: true, bypass: true } }]), touch],
    });
    const sessionId = await startSession(server);
    const { port, token } = server;
    // As JSON, with fields and headers that would permit everything if they were used.
    const response = await fetch(`${server.url}/gennai.agent.v1.AgentService/StartTurn`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Authorization: `Bearer ${token}`,
        "X-Approved": "true",
        Connection: "close",
      },
      body: JSON.stringify({
        sessionId,
        userInput: "go",
        clientTurnId: "a",
        approved: true,
        bypass: true,
        risk: "low",
      }),
    });
    assert.ok(response.ok || response.status === 400, `${port} answered ${response.status}`);
    await response.arrayBuffer();
    const events = response.ok ? await waitForEnd(server, sessionId) : await runTurn(server, sessionId, "go");
    assert.notEqual(calledLast(events).code, "ok");
    assert.equal(made(server), false);
  }),
};

async function waitForEnd(server: TestServer, sessionId: string) {
  await using watcher = await Watcher.attach(server, sessionId);
  await watcher.end();
  return await allEvents(server, sessionId);
}
