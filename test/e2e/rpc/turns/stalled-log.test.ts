import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { EmergencyControl } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { allEvents, endState, refusalOf, runTurn, startSession, Watcher } from "../session-client.ts";

/** Nothing can be written to the server's log until this is disposed. */
function lockLog({ stateDir }: TestServer): Disposable {
  const connection = new DatabaseSync(join(stateDir, "gennai.db"));
  connection.exec("BEGIN IMMEDIATE");
  return {
    [Symbol.dispose]() {
      connection.exec("ROLLBACK");
      connection.close();
    },
  };
}

const slow = { match: "slow", steps: [{ text: ["Well."] }, { delay_ms: 60_000 }] };
const writes = {
  match: "write",
  steps: [{ delay_ms: 800 }, call("Write", { file_path: "a.txt", content: "a" }), { text: ["Done."] }],
};
const greets = { match: "hello", steps: [{ text: ["Hello."] }] };

test("while the log takes nothing, nothing is done, errors say why, and turns end when it takes something again", async () => {
  const server = await startTestServer({ script: [writes, greets] });
  const sessionId = await startSession(server);
  const watcher = await Watcher.attach(server, sessionId);
  await server.client.startTurn({ sessionId, userInput: "write", clientTurnId: "a" });
  await watcher.next("status");
  {
    using _locked = lockLog(server);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await refusalOf(server.client.startSession({}))).toMatchObject({ code: "unavailable", info: "unavailable" });
  }
  await expect.poll(async () => endState(await allEvents(server, sessionId))).toBe("INTERRUPTED");
  expect(() => readFileSync(server.workspace.path("a.txt"))).toThrow("ENOENT");
  expect(endState(await runTurn(server, sessionId, "hello"))).toBe("COMPLETED");
  await watcher[Symbol.asyncDispose]();
  expect(server.failures.splice(0).join("\n")).toContain("database is locked");
  await server[Symbol.asyncDispose]();
});

test("stopping all work stops it also when that cannot be kept, and says so", async () => {
  const server = await startTestServer({ script: [slow, greets] });
  const sessionId = await startSession(server);
  const watcher = await Watcher.attach(server, sessionId);
  await server.client.startTurn({ sessionId, userInput: "slow", clientTurnId: "a" });
  await watcher.next("assistantDelta");
  const { governance } = server;
  const stopAll = { control: EmergencyControl.STOP_ALL, enabled: true, by: "a test", reason: "a test" };
  {
    using _locked = lockLog(server);
    expect(await refusalOf(governance.setEmergencyControl(stopAll))).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("stopped anyway (1)"),
    });
  }
  await expect.poll(async () => endState(await allEvents(server, sessionId))).toBe("INTERRUPTED");
  expect(await governance.setEmergencyControl(stopAll)).toMatchObject({ state: { stopAll: true } });
  await watcher[Symbol.asyncDispose]();
  expect(server.failures.splice(0).join("\n")).toContain("database is locked");
  await server[Symbol.asyncDispose]();
});
