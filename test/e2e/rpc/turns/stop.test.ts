import { existsSync, rmSync } from "node:fs";
import { StopScope } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { FailureClass } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { startTurn } from "@gennai/sessions/turn/prepare-turn";
import { processesSaying } from "@gennai/testkit/processes";
import { bash } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import { anotherClient, codeOf, endState, eventsOf, runTurn, startSession, Watcher } from "../session-client.ts";
import { useServer } from "../use-server.ts";

/** A command that leaves a child and ignores a polite end; the number is how its processes are found, also in a sandbox. */
const marker = `61.${process.pid}${Date.now()}`;
const stubborn = `trap '' TERM; sleep ${marker} & touch made; echo started; wait; sleep ${marker}`;

/** Processes must be gone in all of them. A staged command asks nobody before it runs. */
const surroundings = { "on a stage": { commands: "staged" }, "with the user's rights": { commands: "ask" } } as const;

type Surroundings = keyof typeof surroundings;

const everywhere = Object.keys(surroundings) as Surroundings[];

function serverThatRuns(command: string, where: Surroundings): Promise<TestServer> {
  return startTestServer({
    server: surroundings[where],
    script: [
      { match: "^run$", steps: [bash(command), { text: ["Done."] }] },
      { match: "^next$", steps: [{ text: ["Next."] }] },
    ],
  });
}

async function runningCommand(
  server: TestServer,
  where: Surroundings,
): Promise<{ sessionId: string; turnId: string; editor: Watcher }> {
  const sessionId = await startSession(server, { interactive: true });
  const editor = await Watcher.attach(server, sessionId);
  const { turnId } = await server.client.startTurn({ sessionId, userInput: "run", clientTurnId: "run" });
  if (where !== "on a stage") await editor.answer(await editor.next("confirmationRequest"));
  await editor.until((events) => eventsOf(events, "toolOutputDelta").find(({ text }) => text.includes("started")));
  expect(processesSaying(marker)).not.toEqual([]);
  return { sessionId, turnId, editor };
}

interface StopCase {
  readonly name: string;
  /** What the call answers. */
  readonly stop: (server: TestServer, sessionId: string) => Promise<object>;
  readonly wanted: (turnId: string) => object;
}

const stops: readonly StopCase[] = [
  {
    name: "CancelTurn",
    stop: (server, sessionId) => server.client.cancelTurn({ sessionId, reason: "enough" }),
    wanted: (turnId) => ({ wasRunning: true, turnId }),
  },
  {
    name: "Stop of the session",
    stop: (server, sessionId) => server.client.stop({ scope: StopScope.SESSION, sessionId, reason: "enough" }),
    wanted: (turnId) => ({ stopped: true, turnIds: [turnId] }),
  },
  {
    name: "Stop of the server",
    stop: (server) => server.client.stop({ scope: StopScope.SERVER }),
    wanted: (turnId) => ({ stopped: true, turnIds: [turnId] }),
  },
];

describe.each(everywhere)("of a command %s", (where) => {
  const shared = useServer(() => serverThatRuns(stubborn, where));

  test.each(stops)("$name answers when the processes are gone", async ({ stop, wanted }) => {
    const server = shared();
    const { sessionId, turnId, editor } = await runningCommand(server, where);
    await using _editor = editor;
    expect(await stop(server, sessionId)).toMatchObject(wanted(turnId));
    expect(processesSaying(marker)).toEqual([]);
    expect(await editor.end(turnId)).toBe("CANCELLED");
    expect(await editor.next("toolResult")).toMatchObject({ failureClass: FailureClass.PARTIAL_EXECUTION });
    // Of a staged command that did not end by itself, nothing is kept.
    expect(existsSync(server.workspace.path("made"))).toBe(where !== "on a stage");
    rmSync(server.workspace.path("made"), { force: true });
    // The session goes on.
    expect(endState(await runTurn(server, sessionId, "next"))).toBe("COMPLETED");
  });
});

test.each(everywhere)("shutting the server down ends what runs %s", async (where) => {
  await using server = await serverThatRuns(stubborn, where);
  const { editor } = await runningCommand(server, where);
  await Promise.all([server.restart(), editor.ended]);
  expect(processesSaying(marker)).toEqual([]);
});

test("stopping what does not run stops nothing", async () => {
  await using server = await startTestServer({ steps: [{ delay_ms: 200 }, { text: ["a"] }] });
  const sessionId = await startSession(server);
  const other = await startSession(server);
  expect(await server.client.cancelTurn({ sessionId })).toMatchObject({ wasRunning: false, turnId: "" });
  const running = Array.fromAsync(anotherClient(server).invoke({ sessionId, userInput: "go", clientTurnId: "a" }));
  const { turnId } = await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "a" });
  expect(await server.client.cancelTurn({ sessionId, turnId: "another" })).toMatchObject({ wasRunning: false });
  expect(await server.client.stop({ scope: StopScope.SESSION, sessionId: other })).toMatchObject({
    stopped: true,
    turnIds: [],
  });
  expect(await codeOf(server.client.stop({ sessionId }))).toBe("invalid_argument");
  expect(await codeOf(server.client.stop({ scope: 99 as StopScope, sessionId }))).toBe("invalid_argument");
  expect(await codeOf(server.client.stop({ scope: StopScope.WORKSPACE }))).toBe("not_found");
  expect(endState(await running)).toBe("COMPLETED");
  expect((await running)[0]?.turnId).toBe(turnId);
});

test("stopping a workspace ends the turns of all its sessions", async () => {
  await using server = await startTestServer({ steps: [{ delay_ms: 5_000 }, { text: ["a"] }] });
  const sessions = await Promise.all([startSession(server), startSession(server), startSession(server)]);
  const turnIds = await Promise.all(
    sessions
      .slice(0, 2)
      .map(
        async (sessionId) => (await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "a" })).turnId,
      ),
  );
  const response = await server.client.stop({ scope: StopScope.WORKSPACE, sessionId: sessions[2] });
  expect([...response.turnIds].sort()).toEqual([...turnIds].sort());
  await using watcher = await Watcher.attach(server, sessions[0]);
  expect(await watcher.end()).toBe("CANCELLED");
});

test("a stop that comes with the start of a turn catches it", async () => {
  await using server = await startTestServer({ steps: [{ delay_ms: 5_000 }, { text: ["a"] }] });
  const sessionId = await startSession(server);
  const session = await server.running.manager.get(sessionId);
  const starting = startTurn(session, {
    text: "go",
    scenario: "",
    enableThinking: false,
    images: [],
    clientTurnId: "a",
  });
  expect(await server.running.manager.stop(() => true, "now")).toEqual([(await starting).turnId]);
});
