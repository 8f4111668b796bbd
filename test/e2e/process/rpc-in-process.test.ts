import { Code, ConnectError } from "@connectrpc/connect";
import { type AgentClient, connect } from "@gennai/client/connection/connection";
import { AgentSession } from "@gennai/client/session/agent-session";
import { ErrorInfoSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { afterEach, beforeEach, expect, it } from "vitest";

const { signal } = new AbortController();
const identity = { clientId: "test", name: "test", version: "0" };

let server: TestServer;
let client: AgentClient;
beforeEach(async () => {
  server = await startTestServer({ server: { address: { type: "in-process" } } });
  client = connect({ baseUrl: "", transport: server.running.transport([]) });
});
afterEach(() => server[Symbol.asyncDispose]());

async function failureOf(call: Promise<unknown>) {
  const error = ConnectError.from(await call.catch((thrown: unknown) => thrown));
  return { code: Code[error.code], reasons: error.findDetails(ErrorInfoSchema).map(({ code }) => code) };
}

it("listens nowhere, and serves a turn to its end", async () => {
  expect([server.running.port, server.running.url]).toEqual([undefined, ""]);
  const session = await AgentSession.start(client, identity, {}, { interactive: false, signal });
  const turn = await session.startTurn({ text: "show README.md" }, { signal });
  const kinds: (string | undefined)[] = [];
  for await (const { event } of session.follow({ afterSeq: turn.afterSeq, untilTurnId: turn.turnId, signal }))
    kinds.push(event.case);
  expect(kinds).toEqual(expect.arrayContaining(["toolCall", "toolResult", "status"]));
});

it("refuses as a server that listens does", async () => {
  await using listening = await startTestServer();
  const sessionId = "no-such-session";
  const tooLarge = (agent: AgentClient) => agent.startTurn({ sessionId, userInput: "x".repeat(17_000_000) });
  const calls: readonly ((agent: AgentClient) => Promise<unknown>)[] = [
    (agent) => agent.getTodos({ sessionId }),
    tooLarge,
    (agent) => agent.getServerInfo({}, { signal: AbortSignal.abort() }),
  ];
  for (const call of calls) expect(await failureOf(call(client))).toEqual(await failureOf(call(listening.client)));
  expect(await failureOf(tooLarge(client))).toMatchObject({
    code: "ResourceExhausted",
    reasons: ["request_too_large"],
  });
});

it("lets go of a stream whose reader went away, wherever that one stood", async () => {
  const session = await AgentSession.start(client, identity, {}, { interactive: false, signal });
  const { clients } = await server.running.manager.get(session.sessionId);
  const attached = () => clients.count;
  for (const take of [0, 1]) {
    const leaving = new AbortController();
    const events = client
      .subscribe({ sessionId: session.sessionId, client: identity, batches: true }, { signal: leaving.signal })
      [Symbol.asyncIterator]();
    const first = events.next();
    if (take === 1) await first;
    first.catch(() => undefined);
    await expect.poll(attached).toBe(1);
    leaving.abort();
    await expect.poll(attached).toBe(0);
  }
});

it("ends streams when it stops, and says that they may be opened again", async () => {
  const session = await AgentSession.start(client, identity, {}, { interactive: false, signal });
  const events = client
    .subscribe({ sessionId: session.sessionId, client: identity, batches: true })
    [Symbol.asyncIterator]();
  await events.next();
  const next = failureOf(events.next());
  await server.running[Symbol.asyncDispose]();
  expect(await next).toEqual({ code: "Unavailable", reasons: ["server_draining"] });
});

it("is no way to a server that listens", async () => {
  await using listening = await startTestServer();
  expect(() => listening.running.transport([])).toThrow(TypeError);
});
