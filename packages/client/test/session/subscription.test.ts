import { Code, ConnectError } from "@connectrpc/connect";
import { InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { expect, test } from "vitest";
import { EventGapError, type SubscribeOptions, subscribe } from "#session/subscription";
import { clientOf, event, type FakeStream, FakeStreams, text } from "../fake-service.ts";

const identity = { clientId: "c1", name: "test", version: "0" };
const quick = { first: 1, longest: 2 };

async function collect(streams: readonly FakeStream[], options: Partial<SubscribeOptions> = {}) {
  const fake = new FakeStreams(streams);
  const seqs: number[] = [];
  let error: unknown;
  try {
    const events = subscribe(clientOf(fake), {
      sessionId: "s1",
      afterSeq: 0n,
      identity,
      signal: new AbortController().signal,
      backOff: quick,
      ...options,
    });
    for await (const one of events) seqs.push(Number(one.seq));
  } catch (caught) {
    error = caught;
  }
  return { seqs, error, asked: fake.requests.map((request) => Number(request.afterSeq)), fake };
}

const heartbeat = () => event(0, { case: "heartbeat", value: {} });
const ended = (seq: number) => event(seq, { case: "status", value: { state: InvokeState.COMPLETED } });
const refused: FakeStream = { events: [], end: Code.PermissionDenied };

const rows: readonly {
  readonly name: string;
  readonly streams: readonly FakeStream[];
  readonly options?: Partial<SubscribeOptions>;
  readonly seqs: readonly number[];
  readonly asked: readonly number[];
  readonly code?: Code;
}[] = [
  {
    name: "resumes after the last seq when the stream breaks",
    streams: [{ events: [text(1), text(2)], end: Code.Unavailable }, { events: [text(3)], end: Code.Aborted }, refused],
    seqs: [1, 2, 3],
    asked: [0, 2, 3],
    code: Code.PermissionDenied,
  },
  {
    name: "drops doubles",
    streams: [
      { events: [text(1), text(2)], end: Code.Unavailable },
      { events: [text(1), text(2), text(3)], end: Code.Unavailable },
      refused,
    ],
    seqs: [1, 2, 3],
    asked: [0, 2, 3],
    code: Code.PermissionDenied,
  },
  {
    name: "passes on a replayed item that completes seen deltas",
    streams: [
      { events: [text(1), text(2)], end: Code.Unavailable },
      {
        events: [event(4, { case: "assistantDelta", value: { text: "all" } }, { firstSeq: 1 })],
        end: Code.Unavailable,
      },
      refused,
    ],
    seqs: [1, 2, 4],
    asked: [0, 2, 4],
    code: Code.PermissionDenied,
  },
  {
    name: "swallows heartbeats, and reconnects when there are none",
    streams: [{ events: [text(1), heartbeat()], end: "silently" }, refused],
    options: { silence: 40 },
    seqs: [1],
    asked: [0, 1],
    code: Code.PermissionDenied,
  },
  {
    name: "continues behind what a truncated event names",
    streams: [
      {
        events: [text(1), event(0, { case: "truncated", value: { throughSeq: 9n } }), text(10)],
        end: Code.Unavailable,
      },
      refused,
    ],
    seqs: [1, 0, 10],
    asked: [0, 10],
    code: Code.PermissionDenied,
  },
  {
    name: "ends with its turn",
    streams: [{ events: [text(1), ended(2), text(3)], end: "silently" }],
    options: { untilTurnId: "t1" },
    seqs: [1, 2],
    asked: [0],
  },
  {
    name: "takes a plain end of the stream for the end of a turn that was over before",
    streams: [{ events: [], end: "normally" }],
    options: { untilTurnId: "t1", afterSeq: 7n },
    seqs: [],
    asked: [7],
  },
  ...[Code.NotFound, Code.Unauthenticated, Code.InvalidArgument].map((code) => ({
    name: `does not repeat what the server refused: ${Code[code]}`,
    streams: [{ events: [], end: code }] as const,
    seqs: [],
    asked: [0],
    code,
  })),
  {
    name: "gives up on a fault that stays",
    streams: Array.from({ length: 9 }, () => ({ events: [], end: Code.Internal }) as const),
    seqs: [],
    asked: [0, 0, 0, 0, 0],
    code: Code.Internal,
  },
  {
    name: "gives up after the attempts it was given",
    streams: Array.from({ length: 9 }, () => ({ events: [], end: Code.Unavailable }) as const),
    options: { maxAttempts: 3 },
    seqs: [],
    asked: [0, 0, 0],
    code: Code.Unavailable,
  },
  {
    name: "gives up on a server that fails each time behind its first message",
    streams: Array.from({ length: 9 }, () => ({ events: [heartbeat()], end: Code.Unavailable }) as const),
    options: { maxAttempts: 3 },
    seqs: [],
    asked: [0, 0, 0],
    code: Code.Unavailable,
  },
];

test.each(rows)("$name", async (row) => {
  const { seqs, asked, error } = await collect(row.streams, row.options);
  expect({ seqs, asked, code: error instanceof ConnectError ? error.code : undefined }).toEqual({
    seqs: row.seqs,
    asked: row.asked,
    code: row.code,
  });
});

test("a gap is an error that names it", async () => {
  const { error, seqs } = await collect([{ events: [text(1), text(3)], end: "silently" }]);
  expect(seqs).toEqual([1]);
  expect(error).toBeInstanceOf(EventGapError);
  expect(error).toMatchObject({ code: "event_gap", expectedSeq: 2n, receivedSeq: 3n });
});

test("leaving the loop ends the call", async () => {
  const fake = new FakeStreams([{ events: [text(1), text(2)], end: "silently" }]);
  const { signal } = new AbortController();
  for await (const one of subscribe(clientOf(fake), { sessionId: "s1", afterSeq: 0n, identity, signal })) {
    if (one.seq === 1n) break;
  }
  await expect.poll(() => fake.aborted).toEqual([0]);
});

test("aborting rejects with the reason of the signal", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  setTimeout(() => controller.abort(reason), 20);
  const { error } = await collect([{ events: [text(1)], end: "silently" }], { signal: controller.signal });
  expect(error).toBe(reason);
});

test("reports connections", async () => {
  const states: string[] = [];
  await collect(
    [
      { events: [text(1)], end: Code.Unavailable },
      { events: [text(2), ended(3)], end: "normally" },
    ],
    { untilTurnId: "t1", onConnection: (change) => states.push(change.state) },
  );
  expect(states).toEqual(["connected", "reconnecting", "connected"]);
});
