import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { GovernanceService } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { PlanService } from "@gennai/protocol/gen/gennai/agent/v1/plan_pb";
import { expect, test } from "vitest";
import { allEvents, eventsOf, Watcher } from "../../rpc/session-client.ts";
import { elsewhereScene } from "./elsewhere-scene.ts";

test("a question is answered by a link and a PIN, and the ledger says by whom and how", async () => {
  await using on = await elsewhereScene();
  await using editor = await Watcher.begin(on.server);
  const question = await editor.next("confirmationRequest");
  const code = await on.code();
  // Robots that look at links neither use them up nor answer.
  for (const method of ["GET", "HEAD"])
    expect((await fetch(`${on.server.url}/answer`, { method })).status).toBe(method === "GET" ? 200 : 405);
  expect((await on.post({ code, pin: on.pin }, {})).status).toBe(403);
  expect((await on.post({ code, pin: on.pin }, { Origin: "https://evil.example" })).status).toBe(403);
  const { status, body } = await on.post({ code, pin: on.pin });
  expect([status, body["requestId"]]).toEqual([200, question.requestId]);
  const token = String(body["token"]);
  const asks = (path: string) =>
    fetch(`${on.server.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", Authorization: `Bearer ${token}`, Origin: on.server.url },
      body: "{}",
    });
  for (const service of [AgentService, GovernanceService, PlanService]) {
    for (const { name } of service.methods) expect((await asks(`/${service.typeName}/${name}`)).status, name).toBe(401);
  }
  expect((await asks("/page/code")).status).toBe(401);
  const said = { token, answer: "yes", actionSha256: question.actionSha256 };
  expect((await on.post({ ...said, actionSha256: "0".repeat(64) })).status).toBe(409);
  expect((await on.post(said)).body).toEqual({ answer: "yes" });
  expect((await on.post(said)).status).toBe(409);
  expect(await editor.end()).toBe("COMPLETED");
  const [resolved] = eventsOf(await allEvents(on.server, editor.sessionId), "clientRequestResolved");
  expect(resolved).toMatchObject({ user: "alice", clientId: expect.stringMatching(/^webhook link [0-9a-f]{16}$/) });
  expect(on.hooked.join()).not.toContain("all:");
});

test("where a policy permits no answers from elsewhere, nobody is told, and the editor is asked as ever", async () => {
  await using on = await elsewhereScene({ policy: "answers: { remote: false }" });
  await using editor = await Watcher.begin(on.server);
  const question = await editor.next("confirmationRequest");
  await editor.answer(question);
  expect(await editor.end()).toBe("COMPLETED");
  expect(on.hooked).toEqual([]);
});
