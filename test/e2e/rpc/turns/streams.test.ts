import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import {
  allEvents,
  anotherClient,
  codeOf,
  endState,
  eventsOf,
  lastOfGapless,
  lastSeqOf,
  refusalOf,
  runTurn,
  startSession,
  Watcher,
} from "../session-client.ts";

const chatter = { steps: [{ text: Array.from({ length: 400 }, (_, index) => `word ${index} `) }] };
const whole = Array.from({ length: 400 }, (_, index) => `word ${index} `).join("");

test("a replay from any place leaves no gap, and its deltas make the same text", async () => {
  await using server = await startTestServer({ script: [chatter] });
  const sessionId = await startSession(server);
  const live = await runTurn(server, sessionId, "talk");
  const lastSeq = lastOfGapless(live);
  for (const afterSeq of [0n, 1n, 5n, lastSeq - 1n]) {
    const replay = await allEvents(server, sessionId, afterSeq);
    // A replay begins where it was asked to, also in the middle of what was one event before.
    expect(lastOfGapless(replay, afterSeq)).toBe(lastSeq);
  }
  const text = (events: typeof live): string =>
    eventsOf(events, "assistantDelta")
      .map((delta) => delta.text)
      .join("");
  expect(text(live)).toBe(whole);
  expect(text(await allEvents(server, sessionId))).toBe(whole);
});

test("a subscriber that comes in the middle replays, follows, and sees what the first one saw", async () => {
  const slow = { steps: Array.from({ length: 30 }, (_, index) => [{ text: [`${index} `] }, { delay_ms: 10 }]).flat() };
  await using server = await startTestServer({ script: [slow] });
  const sessionId = await startSession(server);
  await using first = await Watcher.attach(server, sessionId);
  const { turnId } = await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "a" });
  await first.next("assistantDelta", 5);
  await using second = await Watcher.attach(server, sessionId, { clientId: "page", capabilities: {} });
  expect(await Promise.all([first.end(turnId), second.end(turnId)])).toEqual(["COMPLETED", "COMPLETED"]);
  for (const { events } of [first, second])
    lastOfGapless(
      events.filter(({ seq }) => seq > 0n),
      0n,
    );
  const text = ({ events }: Watcher): string =>
    eventsOf(events, "assistantDelta")
      .map((delta) => delta.text)
      .join("");
  expect(text(second)).toBe(text(first));
});

test("a stream to the end of a turn ends with it, also when it ended before", async () => {
  await using server = await startTestServer({ script: [chatter] });
  const sessionId = await startSession(server);
  const events = await runTurn(server, sessionId, "talk");
  const untilTurnId = events[0]?.turnId ?? "";
  const lastSeq = events.at(-1)?.seq ?? 0n;
  const replay = await Array.fromAsync(server.client.subscribe({ sessionId, untilTurnId }));
  expect(endState(replay)).toBe("COMPLETED");
  // Anyone who reconnects with the last event in hand is told at once that there is nothing more.
  const rest = await Array.fromAsync(server.client.subscribe({ sessionId, untilTurnId, afterSeq: lastSeq }));
  expect(rest.filter(({ seq }) => seq > 0n)).toEqual([]);
});

test("a stream that breaks cancels nothing", async () => {
  const slow = { steps: [{ text: ["a"] }, { delay_ms: 200 }, { text: ["b"] }] };
  await using server = await startTestServer({ script: [slow] });
  const sessionId = await startSession(server);
  const stop = new AbortController();
  let turnId = "";
  try {
    for await (const event of anotherClient(server).invoke({ sessionId, userInput: "go" }, { signal: stop.signal })) {
      turnId = event.turnId;
      if (event.event.case === "assistantDelta") stop.abort();
    }
  } catch {
    // The abort.
  }
  await using watcher = await Watcher.attach(server, sessionId);
  expect(await watcher.end(turnId)).toBe("COMPLETED");
  expect(eventsOf(watcher.events, "final")[0]?.text).toBe("ab");
});

test("a deadline ends the call, not the turn", async () => {
  await using server = await startTestServer({ steps: [{ delay_ms: 300 }, { text: ["Done."] }] });
  const sessionId = await startSession(server);
  const call = Array.fromAsync(anotherClient(server).invoke({ sessionId, userInput: "go" }, { timeoutMs: 100 }));
  expect(await codeOf(call)).toBe("deadline_exceeded");
  await using watcher = await Watcher.attach(server, sessionId);
  expect(await watcher.end()).toBe("COMPLETED");
});

test("begins with a sign of life, so that headers leave at once", async () => {
  await using server = await startTestServer();
  const sessionId = await startSession(server);
  await using watcher = await Watcher.attach(server, sessionId, { afterSeq: await lastSeqOf(server, sessionId) });
  expect(watcher.events[0]?.event.case).toBe("heartbeat");
  expect(watcher.events[0]?.seq).toBe(0n);
});

test("a stream that cannot be is refused", async () => {
  await using server = await startTestServer();
  const sessionId = await startSession(server);
  for (const [wrong, code] of [
    [{ afterSeq: 1000n }, "invalid_argument"],
    [{ afterSeq: 2n ** 63n }, "invalid_argument"],
    [{ sessionId: "nope" }, "not_found"],
    [{ client: { clientId: "a".repeat(129) } }, "invalid_argument"],
  ] as const) {
    const stream = server.client.subscribe({ sessionId, ...wrong });
    expect(await refusalOf(Array.fromAsync(stream))).toMatchObject({ code, info: code });
  }
});

test("a flood of a hundred thousand deltas arrives whole, in few events", async () => {
  await using server = await startTestServer({ steps: [{ text: { repeat: 100_000, chunk: "ab" } }] });
  const sessionId = await startSession(server);
  const events = await runTurn(server, sessionId, "flood");
  const text = eventsOf(events, "assistantDelta")
    .map((delta) => delta.text)
    .join("");
  expect(text.length).toBe(200_000);
  expect(events.length).toBeLessThan(10_000);
  lastOfGapless(events);
});

test("a reader that stalls holds up nobody", async () => {
  await using server = await startTestServer({ steps: [{ text: { repeat: 30_000, chunk: "0123456789".repeat(20) } }] });
  const sessionId = await startSession(server);
  const stop = new AbortController();
  const stalled = anotherClient(server).subscribe({ sessionId }, { signal: stop.signal })[Symbol.asyncIterator]();
  await stalled.next();
  const events = await runTurn(server, sessionId, "flood");
  expect(endState(events)).toBe("COMPLETED");
  // It goes on where it was.
  const late = [];
  for (let next = await stalled.next(); next.done !== true; next = await stalled.next()) {
    if (next.value.seq > 0n) late.push(next.value);
    if (next.value.seq === events.at(-1)?.seq) break;
  }
  lastOfGapless(late);
  stop.abort();
  await stalled.return?.(undefined);
});
