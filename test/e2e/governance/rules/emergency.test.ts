import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { connectGovernance, type GovernanceClient } from "@gennai/client/connection/connection";
import { EmergencyControl, FailureClass, RiskLevel, Verdict } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { processesSaying } from "@gennai/testkit/processes";
import { bash, call } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import { commandLine } from "../../../../packages/cli/test/test-console.ts";
import { codeOf, endState, refusalOf, runTurn, startSession, Watcher } from "../../rpc/session-client.ts";

const marker = `9000.${process.pid}${Date.now()}`;

function governanceOf(server: TestServer): GovernanceClient {
  return server.governance;
}

function set(server: TestServer, control: EmergencyControl, enabled: boolean, tool = "") {
  return governanceOf(server).setEmergencyControl({ control, enabled, tool, by: "ann", reason: "a test" });
}

const write = call("Write", { file_path: "new.txt", content: "new\n" });

/** A server whose model runs a command that would take hours, in a turn that has begun it. */
async function busyServer() {
  const server = await startTestServer({
    script: [
      { steps: [bash(`touch started; sleep ${marker}`), { text: ["Done."] }] },
      { steps: [write, { text: ["Next."] }] },
    ],
    server: { announce: true },
  });
  const sessionId = await startSession(server, { interactive: true });
  const editor = await Watcher.attach(server, sessionId);
  const { turnId } = await server.client.startTurn({ sessionId, userInput: "run", clientTurnId: "run" });
  await editor.answer(await editor.next("confirmationRequest"));
  await expect.poll(() => existsSync(server.workspace.path("started"))).toBe(true);
  return { server, sessionId, turnId, editor };
}

async function ledgerDetails(server: TestServer) {
  const { records } = await governanceOf(server).listLedgerRecords({ limit: 1000 });
  return records
    .map(({ json }) => (JSON.parse(json) as { metadata: { kind: string; details: object } }).metadata)
    .filter(({ kind }) => kind === "emergency")
    .map(({ details }) => details);
}

describe("seed 003 §12 post-stop: effective on running work", () => {
  test("stop-all ends it at once, and no turn starts until a person lifts it", async () => {
    const { server, sessionId, turnId, editor } = await busyServer();
    await using _server = server;
    await using _editor = editor;
    const { state, stoppedTurnIds } = await set(server, EmergencyControl.STOP_ALL, true);
    expect(state?.stopAll).toBe(true);
    expect(stoppedTurnIds).toEqual([turnId]);
    expect(processesSaying(marker)).toEqual([]);
    expect(await editor.end(turnId)).toBe("CANCELLED");
    expect(await editor.next("emergencyChanged")).toMatchObject({
      control: EmergencyControl.STOP_ALL,
      enabled: true,
      by: "ann",
      reason: "a test",
    });

    expect(await refusalOf(runTurn(server, sessionId, "next"))).toMatchObject({ code: "failed_precondition" });
    await set(server, EmergencyControl.STOP_ALL, false);
    expect(endState(await runTurn(server, sessionId, "next", { scenario: "" }))).toBe("COMPLETED");
  });

  test.each([
    ["read-only", EmergencyControl.READ_ONLY, "", "Read-only mode is on"],
    ["a blocked tool", EmergencyControl.BLOCK_TOOL, "BASH", "blocked by the emergency control for bash"],
  ])("%s ends the running command, and the turn goes on in it", async (_name, control, tool, words) => {
    const { server, turnId, editor } = await busyServer();
    await using _server = server;
    await using _editor = editor;
    await set(server, control, true, tool);
    const result = await editor.next("toolResult");
    expect(processesSaying(marker)).toEqual([]);
    expect(result).toMatchObject({
      failureClass: FailureClass.PARTIAL_EXECUTION,
      error: expect.stringContaining(words),
    });
    expect(await editor.end(turnId)).toBe("COMPLETED");
  });

  test("the command line reaches a server of another process by the shared state alone", async () => {
    const { server, turnId, editor } = await busyServer();
    await using _server = server;
    await using _editor = editor;
    const program = `
      import { EmergencyStore } from ${JSON.stringify(import.meta.resolve("@gennai/sessions/rules/emergency-store"))};
      await using store = await EmergencyStore.open(${JSON.stringify(server.stateDir)}, { onWarning() {}, now: Date.now });
      store.change({ control: "stop-all", enabled: true, tool: "", by: "bob", reason: "from afar", via: "cli" }, []);
    `;
    await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
    expect(await editor.end(turnId)).toBe("CANCELLED");
    expect(processesSaying(marker)).toEqual([]);
    expect(await editor.next("emergencyChanged")).toMatchObject({ by: "bob" });
    // This server's workspace has the record, too.
    await expect.poll(() => ledgerDetails(server)).toMatchObject([{ control: "stop-all", by: "bob", via: "cli" }]);
  });
});

describe("who may switch", () => {
  test("nobody without the token, and nothing that is no control", async () => {
    await using server = await startTestServer();
    const stranger = connectGovernance({ baseUrl: server.url });
    expect(await codeOf(stranger.setEmergencyControl({ control: EmergencyControl.STOP_ALL, enabled: true }))).toBe(
      "unauthenticated",
    );
    expect(await refusalOf(set(server, EmergencyControl.UNSPECIFIED, true))).toMatchObject({
      code: "invalid_argument",
    });
    expect(await refusalOf(set(server, EmergencyControl.BLOCK_TOOL, true))).toMatchObject({ code: "invalid_argument" });
  });
});

test("the command line: through a running server, and without one", async () => {
  await using server = await startTestServer({ server: { announce: true } });
  const gennai = commandLine(server.workspace.root, { GENNAI_STATE_DIR: server.stateDir, PATH: process.env["PATH"] });
  const line = (...args: readonly string[]) => gennai("emergency", ...args);
  expect(await line("block", "deploy", "--reason", "freeze", "--by", "ann")).toMatchObject({
    code: 0,
    out: expect.stringContaining("deploy"),
  });
  expect((await governanceOf(server).getGovernanceStatus({})).emergency?.blockedTools).toEqual(["deploy"]);
  expect(await ledgerDetails(server)).toMatchObject([{ tool: "deploy", by: "ann", via: "rpc" }]);
  expect(await line("unblock", "deploy")).toMatchObject({ code: 2, err: expect.stringContaining("why") });
  expect(await line("read-only", "perhaps")).toMatchObject({ code: 2 });

  await server.running[Symbol.asyncDispose]();
  expect(await line("unblock", "deploy", "--reason", "over", "--by", "ann")).toMatchObject({ code: 0 });
  const status = await line("status", "--json");
  expect(JSON.parse(status.out)).toMatchObject({
    state: { blockedTools: [] },
    changes: [{ enabled: true }, { enabled: false, via: "cli", reason: "over" }],
  });
  await server.restart();
  expect(await ledgerDetails(server)).toMatchObject([{ enabled: true }, { enabled: false, by: "ann" }]);
});

test("CheckPolicy, PreviewSystemPrompt, ListIntents and the status", async () => {
  await using server = await startTestServer({ files: { "src/a.ts": "a\n" } });
  const governance = governanceOf(server);
  const sessionId = await startSession(server);
  const check = (tool: string, args: object) =>
    governance.checkPolicy({ sessionId, tool, argumentsJson: JSON.stringify(args) });
  expect(await check("Read", { file_path: "src/a.ts" })).toMatchObject({
    verdict: Verdict.ALLOW,
    risk: RiskLevel.LOW,
    rules: [],
  });
  const publish = await check("Bash", { command: "npm publish" });
  expect(publish).toMatchObject({ verdict: Verdict.ASK, risk: RiskLevel.HIGH });
  expect(publish.rules.map(({ rule }) => rule)).toContain("high-risk/confirm");
  await set(server, EmergencyControl.READ_ONLY, true);
  expect(await check("Bash", { command: "npm publish" })).toMatchObject({
    verdict: Verdict.DENY,
    rules: expect.arrayContaining([expect.objectContaining({ rule: "emergency/read-only", hint: expect.any(String) })]),
  });
  expect(await codeOf(check("Nope", {}))).toBe("invalid_argument");
  expect(existsSync(join(server.workspace.root, "package.json"))).toBe(false);

  const { prompt } = await governance.previewSystemPrompt({ sessionId });
  expect(prompt).toContain(server.workspace.root);
  expect(await codeOf(governance.previewSystemPrompt({ sessionId, scenario: "NO_SUCH" }))).toBe("not_found");
  expect(await governance.getGovernanceStatus({ sessionId })).toMatchObject({
    emergency: { readOnly: true },
    isolation: expect.stringMatching(/^(un)?sandboxed$/),
    capabilities: { name: "default", problem: "" },
  });
  expect(await codeOf(governance.getGovernanceStatus({ sessionId: "nope" }))).toBe("not_found");
});
