import { existsSync, readFileSync } from "node:fs";
import { StopScope } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { ConfirmationAnswer, FailureClass } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import { anotherClient, codeOf, endState, runTurn, startSession, Watcher } from "./session-client.ts";

/** A command that leaves a child, ignores a polite end, and tells its ids. */
const stubborn = "trap '' TERM; sleep 60 & echo $$ $! > pids; wait; sleep 60";

function serverThatRuns(command: string): Promise<TestServer> {
  return startTestServer({ script: [{ steps: [{ tool: { name: "Bash", args: { command } } }, { text: ["Done."] }] }, { steps: [{ text: ["Next."] }] }] });
}

async function runningCommand(server: TestServer): Promise<{ sessionId: string; turnId: string; editor: Watcher }> {
  const sessionId = await startSession(server, { interactive: true });
  const editor = await Watcher.attach(server, sessionId);
  const { turnId } = await server.client.startTurn({ sessionId, userInput: "run", clientTurnId: "run" });
  const { requestId, actionSha256 } = await editor.next("confirmationRequest");
  const value = { requestId, actionSha256, answer: ConfirmationAnswer.YES };
  await editor.submit({ case: "confirmationResponse", value });
  await expect.poll(() => existsSync(server.workspace.path("pids")) && pids(server).length).toBe(2);
  return { sessionId, turnId, editor };
}

function pids(server: TestServer): readonly number[] {
  return readFileSync(server.workspace.path("pids"), "utf8").trim().split(" ").filter((each) => each !== "").map(Number);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A process that ended and was not waited for yet is no longer running.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

describe.each([
  ["CancelTurn", async (server: TestServer, sessionId: string, turnId: string) => {
    const response = await server.client.cancelTurn({ sessionId, reason: "enough" });
    expect(response).toMatchObject({ wasRunning: true, turnId });
  }],
  ["Stop of the session", async (server: TestServer, sessionId: string, turnId: string) => {
    const response = await server.client.stop({ scope: StopScope.SESSION, sessionId, reason: "enough" });
    expect(response).toMatchObject({ stopped: true, turnIds: [turnId] });
  }],
  ["Stop of the server", async (server: TestServer, _sessionId: string, turnId: string) => {
    const response = await server.client.stop({ scope: StopScope.SERVER });
    expect(response).toMatchObject({ stopped: true, turnIds: [turnId] });
  }],
])("%s", (_name, stop) => {
  test("answers when the command's processes are gone", async () => {
    await using server = await serverThatRuns(stubborn);
    const { sessionId, turnId, editor } = await runningCommand(server);
    await using _editor = editor;
    const running = pids(server);
    expect(running.map(isRunning)).toEqual([true, true]);
    await stop(server, sessionId, turnId);
    expect(running.map(isRunning)).toEqual([false, false]);
    expect(await editor.end(turnId)).toBe("CANCELLED");
    expect(await editor.next("toolResult")).toMatchObject({ failureClass: FailureClass.PARTIAL_EXECUTION });
    // The session goes on.
    expect(endState(await runTurn(server, sessionId, "next"))).toBe("COMPLETED");
  });
});

test("shutting the server down ends what runs", async () => {
  await using server = await serverThatRuns(stubborn);
  const { editor } = await runningCommand(server);
  const running = pids(server);
  await Promise.all([server.restart(), editor.ended]);
  expect(running.map(isRunning)).toEqual([false, false]);
});

test("stopping what does not run stops nothing", async () => {
  await using server = await startTestServer({ script: [{ steps: [{ delay_ms: 200 }, { text: ["a"] }] }] });
  const sessionId = await startSession(server);
  const other = await startSession(server);
  expect(await server.client.cancelTurn({ sessionId })).toMatchObject({ wasRunning: false, turnId: "" });
  const running = Array.fromAsync(anotherClient(server).invoke({ sessionId, userInput: "go", clientTurnId: "a" }));
  const { turnId } = await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "a" });
  expect(await server.client.cancelTurn({ sessionId, turnId: "another" })).toMatchObject({ wasRunning: false });
  expect(await server.client.stop({ scope: StopScope.SESSION, sessionId: other })).toMatchObject({ stopped: true, turnIds: [] });
  expect(await codeOf(server.client.stop({ sessionId }))).toBe("invalid_argument");
  expect(await codeOf(server.client.stop({ scope: 99 as StopScope, sessionId }))).toBe("invalid_argument");
  expect(await codeOf(server.client.stop({ scope: StopScope.WORKSPACE }))).toBe("not_found");
  expect(endState(await running)).toBe("COMPLETED");
  expect((await running)[0]?.turnId).toBe(turnId);
});

test("stopping a workspace ends the turns of all its sessions", async () => {
  await using server = await startTestServer({ script: [{ steps: [{ delay_ms: 5_000 }, { text: ["a"] }] }] });
  const sessions = await Promise.all([startSession(server), startSession(server), startSession(server)]);
  const [watched = ""] = sessions;
  const turnIds = await Promise.all(
    sessions.slice(0, 2).map(async (sessionId) => (await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "a" })).turnId),
  );
  const response = await server.client.stop({ scope: StopScope.WORKSPACE, sessionId: sessions[2] ?? "" });
  expect([...response.turnIds].sort()).toEqual([...turnIds].sort());
  await using watcher = await Watcher.attach(server, watched);
  expect(await watcher.end()).toBe("CANCELLED");
});

test("a stop that comes with the start of a turn catches it", async () => {
  await using server = await startTestServer({ script: [{ steps: [{ delay_ms: 5_000 }, { text: ["a"] }] }] });
  const sessionId = await startSession(server);
  const session = await server.running.manager.get(sessionId);
  const starting = session.startTurn({ text: "go", scenario: "", enableThinking: false, images: [], clientTurnId: "a" });
  expect(await server.running.manager.stop(() => true, "now")).toEqual([(await starting).turnId]);
});
