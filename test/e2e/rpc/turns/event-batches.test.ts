import { equals, toJson } from "@bufbuild/protobuf";
import { subscribe } from "@gennai/client/session/subscription";
import { type InvokeEvent, InvokeEventSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { runTurn, startSession } from "../session-client.ts";

const reads = Array.from({ length: 60 }, (_none, index) =>
  call("Read", { file_path: "long.txt", offset: index + 1, limit: 1 }),
);

async function longSession(): Promise<{ readonly server: TestServer; readonly sessionId: string }> {
  const server = await startTestServer({
    files: { "long.txt": "line\n".repeat(100) },
    steps: [...reads, { text: ["Read ", "it."] }],
  });
  const sessionId = await startSession(server);
  await runTurn(server, sessionId, "read");
  return { server, sessionId };
}

/** Messages of a replay, up to the end of the log. */
async function replay(
  { server, sessionId }: { readonly server: TestServer; readonly sessionId: string },
  request: { readonly batches: boolean; readonly untilTurnId?: string },
): Promise<readonly InvokeEvent[]> {
  const stop = new AbortController();
  const last = (await server.running.manager.services.log.head(sessionId))?.lastSeq ?? 0;
  const messages: InvokeEvent[] = [];
  for await (const message of server.client.subscribe({ sessionId, ...request }, { signal: stop.signal })) {
    if (message.event.case === "heartbeat") continue;
    messages.push(message);
    if (Number(unpacked([message]).at(-1)?.seq ?? 0n) >= last) break;
  }
  stop.abort();
  return messages;
}

function unpacked(messages: readonly InvokeEvent[]): readonly InvokeEvent[] {
  return messages.flatMap((message) => (message.event.case === "batch" ? message.event.value.events : [message]));
}

test("a client that takes batches gets the same events in a few messages; one that does not gets them one by one", async () => {
  const world = await longSession();
  await using _server = world.server;
  const single = await replay(world, { batches: false });
  const batched = await replay(world, { batches: true });
  expect(single.every(({ event }) => event.case !== "batch")).toBe(true);
  expect(batched.length).toBeLessThan(single.length / 20);
  const events = unpacked(batched);
  expect(events.map((event) => toJson(InvokeEventSchema, event))).toEqual(
    single.map((event) => toJson(InvokeEventSchema, event)),
  );
  expect(events.every((event, index) => equals(InvokeEventSchema, event, single[index] ?? event))).toBe(true);
  // None in another, and none too large to take at once.
  expect(events.every(({ event }) => event.case !== "batch")).toBe(true);
  for (const { event } of batched)
    if (event.case === "batch") expect(event.value.events.length).toBeLessThanOrEqual(200);
});

test("the client unpacks them: each once, in order, up to the turn's end", async () => {
  const world = await longSession();
  await using server = world.server;
  const turnId = [...(await server.running.manager.get(world.sessionId)).state.turns.keys()].at(-1) ?? "";
  const identity = { clientId: crypto.randomUUID(), name: "test", version: "0" };
  const seen: bigint[] = [];
  let next = 1n;
  for await (const event of subscribe(server.client, {
    sessionId: world.sessionId,
    afterSeq: 0n,
    identity,
    untilTurnId: turnId,
    signal: AbortSignal.timeout(20_000),
  })) {
    expect(event.firstSeq).toBe(next);
    next = event.seq + 1n;
    seen.push(event.seq);
  }
  expect(seen.length).toBeGreaterThan(120);
  expect(Number(seen.at(-1))).toBe((await server.running.manager.services.log.head(world.sessionId))?.lastSeq);
});
