import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import type { AgentClient } from "@gennai/client/connection/connection";
import { retryingCall } from "@gennai/client/connection/retrying-call";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { ErrorInfoSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { defaultLimits } from "@gennai/server/admission/limits";
import { startManyUsersServer, type TestUser } from "@gennai/testkit/many-users";
import { describe, expect, test, vi } from "vitest";

const slow = [{ steps: [{ delay_ms: 60_000 }, { text: ["Done."] }] }];
const brief = [{ steps: [{ delay_ms: 1_500 }, { text: ["Done."] }] }];

async function overloadOf(call: Promise<unknown>) {
  const error = ConnectError.from(
    await call.then(
      () => new Error("it was let through"),
      (reason: unknown) => reason,
    ),
  );
  const info = error.findDetails(ErrorInfoSchema)[0];
  const wait = info?.retryAfter === undefined ? undefined : durationMs(info.retryAfter);
  return {
    code: error.code,
    reason: info?.code,
    retryable: info?.retryable,
    wait,
    header: error.metadata.get("retry-after"),
  };
}

async function turn(user: TestUser): Promise<void> {
  const { sessionId } = await user.client.startSession({});
  await user.client.startTurn({ sessionId, userInput: "go", clientTurnId: crypto.randomUUID() });
}

describe("turns beyond the limit", () => {
  test("are refused with how long to wait; others go on", async () => {
    const limits = { ...defaultLimits, turnsPerUser: 2, turnsPerTenant: 3 };
    await using world = await startManyUsersServer({ script: slow, server: { limits } });
    const [ada, eve, bob] = [
      await world.user({ user: "ada" }),
      await world.user({ user: "eve" }),
      await world.user({ user: "bob", tenant: "other" }),
    ];
    await turn(ada);
    await turn(ada);
    const refused = { code: Code.ResourceExhausted, reason: "too_many", retryable: true, wait: 5_000, header: "5" };
    expect(await overloadOf(turn(ada))).toEqual(refused);
    await turn(eve);
    expect(await overloadOf(turn(eve))).toMatchObject({ reason: "too_many" });
    await turn(bob);
    await ada.client.stop({ scope: 3 });
    await turn(ada);
    await turn(ada);
  });

  test("a client that waits as it is told gets its turn", async () => {
    const limits = { ...defaultLimits, turnsPerUser: 1 };
    await using world = await startManyUsersServer({ script: brief, server: { limits } });
    const ada = await world.user({ user: "ada" });
    await turn(ada);
    const { sessionId } = await ada.client.startSession({});
    const began = performance.now();
    const { signal } = new AbortController();
    await retryingCall(() => ada.client.startTurn({ sessionId, userInput: "go", clientTurnId: "t" }), {
      signal,
      attempts: 3,
    });
    expect(performance.now() - began).toBeGreaterThan(4_900);
  });
});

describe("calls beyond the limit", () => {
  test.each([
    ["gRPC-Web", createGrpcWebTransport],
    ["Connect", createConnectTransport],
  ])("are typed errors over %s", async (_protocol, createTransport) => {
    const limits = { ...defaultLimits, callsPerSecond: 5 };
    await using world = await startManyUsersServer({ server: { limits } });
    const { token } = await world.user({ user: "ada" });
    const transport = createTransport({
      baseUrl: world.server.url,
      httpVersion: "1.1",
      interceptors: [
        (next) => (request) => {
          request.header.set("Authorization", `Bearer ${token}`);
          return next(request);
        },
      ],
    });
    const client = createClient(AgentService, transport);
    const ends = await Promise.all(Array.from({ length: 30 }, () => overloadOf(client.getServerInfo({}))));
    const refused = ends.filter(({ reason }) => reason === "too_many_requests");
    expect(refused.length).toBeGreaterThanOrEqual(15);
    expect(refused[0]).toMatchObject({ code: Code.ResourceExhausted, wait: 1_000 });
    const more = Array.from({ length: 30 }, () => overloadOf(client.getServerInfo({})));
    const stream = async (): Promise<void> => {
      for await (const _ of client.subscribe({ sessionId: "x" })) continue;
    };
    const streams = await Promise.all(Array.from({ length: 20 }, () => overloadOf(stream())));
    await Promise.all(more);
    // Not the last: where these take long, a call may be free again.
    expect(streams).toContainEqual(
      expect.objectContaining({ code: Code.ResourceExhausted, reason: "too_many_requests" }),
    );
    expect(await overloadOf((await world.user({ user: "eve" })).client.getServerInfo({}))).toMatchObject({
      reason: undefined,
    });
  });

  test("streams have a limit of their own, and a seat is free when its stream is gone", async () => {
    const limits = { ...defaultLimits, streamsPerUser: 2 };
    await using world = await startManyUsersServer({ server: { limits } });
    const ada = await world.user({ user: "ada" });
    const { sessionId } = await ada.client.startSession({});
    const open = async (): Promise<AbortController> => {
      const abort = new AbortController();
      await ada.client.subscribe({ sessionId }, { signal: abort.signal })[Symbol.asyncIterator]().next();
      return abort;
    };
    const [first] = [await open(), await open()];
    expect(await overloadOf(open())).toMatchObject({ reason: "too_many", wait: 2_000 });
    first.abort();
    await vi.waitFor(open);
    await ada.client.getServerInfo({});
  });
});

/** Starts a session and listens to it, so that it is in use until aborted. */
async function inUse(client: AgentClient): Promise<{ readonly sessionId: string; readonly leave: () => void }> {
  const { sessionId } = await client.startSession({});
  const abort = new AbortController();
  const events = client.subscribe({ sessionId }, { signal: abort.signal })[Symbol.asyncIterator]();
  await events.next();
  return { sessionId, leave: () => abort.abort() };
}

test("sessions in use are bounded for each user; idle ones make room", async () => {
  const limits = { ...defaultLimits, sessionsPerUser: 3 };
  await using world = await startManyUsersServer({ server: { limits } });
  const [ada, eve] = [await world.user({ user: "ada" }), await world.user({ user: "eve" })];
  const first = await ada.client.startSession({});
  for (let count = 0; count < 6; count += 1) await ada.client.startSession({});
  // It was closed, and opens again.
  expect(await ada.client.getTodos({ sessionId: first.sessionId })).toMatchObject({ items: [] });
  const [one] = [await inUse(ada.client), await inUse(ada.client), await inUse(ada.client)];
  expect(await overloadOf(ada.client.startSession({}))).toMatchObject({ reason: "too_many_sessions", wait: 30_000 });
  await eve.client.startSession({});
  one.leave();
  await expect.poll(() => overloadOf(ada.client.startSession({}))).toMatchObject({ reason: undefined });
});

test("a session that a call holds is not closed under it", async () => {
  const limits = { ...defaultLimits, sessionsPerUser: 2 };
  await using world = await startManyUsersServer({ server: { limits } });
  const ada = await world.user({ user: "ada" });
  const { sessionId } = await ada.client.startSession({});
  // Each of these writes to the one session, while others push it out of memory again and again.
  const ends = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      if (index % 2 === 0) return overloadOf(ada.client.startSession({}));
      return overloadOf(ada.client.renameSession({ sessionId, title: `title ${index}` }));
    }),
  );
  expect(new Set(ends.map(({ reason }) => reason))).toEqual(new Set([undefined]));
});

test("sessions in memory are bounded for all tenants together", async () => {
  await using world = await startManyUsersServer({ server: { limits: { ...defaultLimits, sessions: 3 } } });
  const [ada, bob] = [await world.user({ user: "ada" }), await world.user({ user: "bob", tenant: "other" })];
  const { sessionId } = await inUse(ada.client);
  await inUse(ada.client);
  await inUse(bob.client);
  expect(await overloadOf(bob.client.startSession({}))).toMatchObject({ reason: "too_many_sessions" });
  // What is open goes on.
  await ada.client.getTodos({ sessionId });
});

test("tenants beyond the limit are told to come back", async () => {
  await using world = await startManyUsersServer({ server: { limits: { ...defaultLimits, tenants: 1 } } });
  await (await world.user({ user: "ada" })).client.getServerInfo({});
  const bob = await world.user({ user: "bob", tenant: "other" });
  expect((await overloadOf(bob.client.getServerInfo({}))).code).toBe(Code.Unavailable);
  await vi.waitFor(() => expect(world.server.failures).toHaveLength(1));
  expect(world.server.failures.splice(0).join()).toContain("limit of 1 tenants");
  // The log is not theirs to fill.
  await Promise.all(Array.from({ length: 60 }, () => overloadOf(bob.client.getServerInfo({}))));
  expect(world.server.failures.splice(0).length).toBeLessThan(40);
});
