import { existsSync } from "node:fs";
import { type InvokeEvent, InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { defaultLimits } from "@gennai/server/admission/limits";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { describe, expect, test, vi } from "vitest";
import { allEvents, endState, eventsOf, runTurn, startSession } from "../session-client.ts";

const write = (file_path: string) => call("Write", { file_path, content: "new\n" });
const script = [
  // Has the tree until it is stopped.
  { match: "^hold$", steps: [write("held.txt"), { delay_ms: 600_000 }, { text: ["Held."] }] },
  ...[1, 2, 3, 4, 5].map((number) => ({
    match: `^write ${number}$`,
    steps: [write(`${number}.txt`), { text: ["Ok."] }],
  })),
  { match: "^write twice$", steps: [write("a.txt"), write("b.txt"), { text: ["Refused."] }] },
];

function serve(treeWaitMs = defaultLimits.treeWaitMs): Promise<TestServer> {
  return startTestServer({ script, server: { limits: { ...defaultLimits, treeWaitMs } } });
}

interface Turn {
  readonly sessionId: string;
  readonly turnId: string;
}

async function start(server: TestServer, userInput: string): Promise<Turn> {
  const sessionId = await startSession(server);
  const { turnId } = await server.client.startTurn({ sessionId, userInput, clientTurnId: "1" });
  return { sessionId, turnId };
}

/** Resolves when the turn is in that state. */
async function reached(server: TestServer, { sessionId }: Turn, state: InvokeState): Promise<void> {
  for await (const { event } of server.client.subscribe({ sessionId })) {
    if (event.case === "status" && event.value.state === state) return;
  }
  throw new Error("The stream ended before.");
}

/** Resolves with the state in which it ended. */
async function end(server: TestServer, { sessionId, turnId }: Turn): Promise<string> {
  const events: InvokeEvent[] = [];
  for await (const event of server.client.subscribe({ sessionId, untilTurnId: turnId })) events.push(event);
  return endState(events);
}

const stop = (server: TestServer, { sessionId, turnId }: Turn) => server.client.cancelTurn({ sessionId, turnId });

/** What was told about its waiting. */
async function told(server: TestServer, { sessionId }: Turn): Promise<readonly string[]> {
  const warnings = eventsOf(await allEvents(server, sessionId), "warning");
  return warnings.filter((text) => text.startsWith("The working tree is in use by "));
}

/** A turn that has the tree. */
async function holder(server: TestServer): Promise<Turn> {
  const turn = await start(server, "hold");
  await vi.waitFor(() => expect(existsSync(server.workspace.path("held.txt"))).toBe(true));
  return turn;
}

/** A turn waiting in line; turns started one after the other are in this order. */
async function waiter(server: TestServer, userInput: string): Promise<Turn> {
  const turn = await start(server, userInput);
  await reached(server, turn, InvokeState.WAITING_FOR_TREE);
  return turn;
}

describe("a turn that meets another session's turn in its working tree", () => {
  test("waits, says so, and goes on when the other one has ended", async () => {
    await using server = await serve();
    const first = await holder(server);
    const second = await waiter(server, "write 1");
    const [warning] = await told(server, second);
    expect(warning).toContain(`in use by session ${first.sessionId}`);
    expect(warning).toContain("This turn is the next. It waits for at most 300 s");
    expect(existsSync(server.workspace.path("1.txt"))).toBe(false);
    await stop(server, first);
    expect(await end(server, second)).toBe("COMPLETED");
    expect(await server.workspace.read("1.txt")).toBe("new\n");
  });

  test("is stopped while it waits, writes nothing, and leaves its place to the next", async () => {
    await using server = await serve();
    const first = await holder(server);
    const second = await waiter(server, "write 1");
    const third = await waiter(server, "write 2");
    expect(await stop(server, second)).toMatchObject({ wasRunning: true });
    expect(await end(server, second)).toBe("CANCELLED");
    await stop(server, first);
    expect(await end(server, third)).toBe("COMPLETED");
    expect([1, 2].map((number) => existsSync(server.workspace.path(`${number}.txt`)))).toEqual([false, true]);
  });

  test("ends with the server, and no place of it is left", async () => {
    await using server = await serve();
    await holder(server);
    const second = await waiter(server, "write 1");
    await server.restart();
    expect(["CANCELLED", "INTERRUPTED"]).toContain(await end(server, second));
    expect(existsSync(server.workspace.path("1.txt"))).toBe(false);
    expect(endState(await runTurn(server, await startSession(server), "write 2"))).toBe("COMPLETED");
    expect(await server.workspace.read("2.txt")).toBe("new\n");
  });

  test("is refused after the limit, which holds for the whole turn", async () => {
    await using server = await serve(500);
    const first = await holder(server);
    const events = await runTurn(server, await startSession(server), "write twice");
    const results = eventsOf(events, "toolResult").map(({ output }) => JSON.parse(output) as unknown);
    const busy = { error: expect.objectContaining({ code: "workspace_busy", retryable: true }) };
    expect(results).toEqual([expect.objectContaining(busy), expect.objectContaining(busy)]);
    const waits = eventsOf(events, "status").filter(({ state }) => state === InvokeState.WAITING_FOR_TREE);
    expect(waits).toHaveLength(1);
    expect(["a.txt", "b.txt"].map((name) => existsSync(server.workspace.path(name)))).toEqual([false, false]);
    await stop(server, first);
    await end(server, first);
    expect(endState(await runTurn(server, await startSession(server), "write 1"))).toBe("COMPLETED");
    expect(await server.workspace.read("1.txt")).toBe("new\n");
  });
});
