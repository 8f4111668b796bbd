import { subscribe as subscribeChannel, unsubscribe as unsubscribeChannel } from "node:diagnostics_channel";
import { connect, type Socket } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { subscribe } from "@gennai/client/session/subscription";
import { SubscribeRequestSchema } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { ErrorInfoSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { defaultLimits } from "@gennai/server/admission/limits";
import { type ManyUsersServer, startManyUsersServer, type TestUser } from "@gennai/testkit/many-users";
import { expect, onTestFinished, test, vi } from "vitest";

const mebibyte = 1024 * 1024;

/** A connection that subscribes and then takes nothing. */
function stuckReader(world: ManyUsersServer, user: TestUser, sessionId: string): Socket {
  const message = toBinary(SubscribeRequestSchema, create(SubscribeRequestSchema, { sessionId }));
  const frame = Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]);
  const head = [
    "POST /gennai.agent.v1.AgentService/Subscribe HTTP/1.1",
    `Host: 127.0.0.1:${world.server.port}`,
    `Authorization: Bearer ${user.token}`,
    "Content-Type: application/grpc-web+proto",
    `Content-Length: ${frame.length}`,
  ];
  const socket = connect(world.server.port, "127.0.0.1");
  socket.pause().on("error", () => undefined);
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  socket.write(frame);
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Writes events of 32 KiB to a session's log, so many MiB. */
async function write(world: ManyUsersServer, sessionId: string, mebibytes: number): Promise<void> {
  const session = await (await world.server.running.tenant("acme")).manager.get(sessionId);
  const text = "x".repeat(32 * 1024);
  for (let written = 0; written < mebibytes * 32; written += 1) {
    session.writer.emit(
      { type: "tool-output-delta", id: `call-${written}`, text },
      { turnId: "t", itemId: `i-${written}` },
    );
    if (written % 8 === 7) await session.writer.flush();
  }
}

const memory = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().rss / mebibyte;
};

/** The server's ends of all connections that are made from now on. */
function serversSockets(): readonly Socket[] {
  const sockets: Socket[] = [];
  const onSocket = (message: unknown) => sockets.push((message as { readonly socket: Socket }).socket);
  subscribeChannel("net.server.socket", onSocket);
  onTestFinished(() => void unsubscribeChannel("net.server.socket", onSocket));
  return sockets;
}

test("fifty readers that take nothing of 40 MiB cost no memory", async () => {
  // However slow the machine is, nobody is let go.
  const limits = { ...defaultLimits, streamsPerUser: 100, slowReaderMs: 600_000 };
  await using world = await startManyUsersServer({ server: { limits } });
  const ada = await world.user({ user: "ada" });
  const { sessionId } = await ada.client.startSession({});
  const session = await (await world.server.running.tenant("acme")).manager.get(sessionId);
  // What writing alone takes: SQLite's pages and the like.
  await write(world, sessionId, 20);
  const readers = Array.from({ length: 50 }, () => stuckReader(world, ada, sessionId));
  await vi.waitFor(() => expect(session.clients.count).toBe(50), { interval: 20 });
  const before = memory();
  const seq = session.state.lastSeq;
  await write(world, sessionId, 40);
  expect(session.state.lastSeq - seq).toBe(40 * 32);
  const grown = memory() - before;
  expect(session.clients.count).toBe(50);
  expect(grown).toBeLessThan(100);
  for (const socket of readers) socket.destroy();
  await vi.waitFor(() => expect(session.clients.count).toBe(0));
});

test("readers that take nothing are let go, and then cut", async () => {
  const limits = { ...defaultLimits, streamsPerUser: 100, slowReaderMs: 1_000 };
  await using world = await startManyUsersServer({ server: { limits } });
  const ada = await world.user({ user: "ada" });
  const { sessionId } = await ada.client.startSession({});
  const session = await (await world.server.running.tenant("acme")).manager.get(sessionId);
  await write(world, sessionId, 20);
  const servers = serversSockets();
  const readers = Array.from({ length: 10 }, () => stuckReader(world, ada, sessionId));
  // Until then none of them has read a byte that the server's end waits for.
  await vi.waitFor(() => expect(servers.filter(({ destroyed }) => destroyed)).toHaveLength(10), { interval: 50 });
  expect(session.clients.count).toBe(0);
  for (const socket of readers) socket.resume();
  await vi.waitFor(() => expect(readers.every(({ closed }) => closed)).toBe(true));
});

test("a reader that stood still is told so when it reads on, and goes on where it was", async () => {
  const limits = { ...defaultLimits, slowReaderMs: 5_000 };
  await using world = await startManyUsersServer({ server: { limits } });
  const ada = await world.user({ user: "ada" });
  const { sessionId } = await ada.client.startSession({});
  const session = await (await world.server.running.tenant("acme")).manager.get(sessionId);
  await write(world, sessionId, 30);

  let seen = 0n;
  const read = async (): Promise<void> => {
    for await (const { seq } of ada.client.subscribe({ sessionId })) {
      if (seq === 0n) continue;
      const isFirst = seen === 0n;
      seen = seq;
      // After another such time without reading, it would be cut.
      if (isFirst) await vi.waitFor(() => expect(session.clients.count).toBe(0), { interval: 20 });
    }
  };
  const error = ConnectError.from(
    await read().then(
      () => new Error("it ended"),
      (reason: unknown) => reason,
    ),
  );
  expect(error.code).toBe(Code.ResourceExhausted);
  expect(error.findDetails(ErrorInfoSchema)[0]).toMatchObject({ code: "slow_reader", retryable: true });

  const last = BigInt(session.state.lastSeq);
  expect(seen).toBeLessThan(last);
  const identity = { clientId: "c", name: "test", version: "1" };
  const { signal } = new AbortController();
  for await (const { firstSeq, seq } of subscribe(ada.client, { sessionId, afterSeq: seen, identity, signal })) {
    expect(firstSeq).toBe(seen + 1n);
    seen = seq;
    if (seq === last) break;
  }
});
