import type { Interceptor, Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { type AgentClient, connect } from "@gennai/client/connection/connection";
import { makeTestCertificates } from "@gennai/testkit/test-certificates";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Refusal, refusalOf } from "../session-client.ts";

let server: TestServer;
beforeAll(async () => {
  // Also reachable under 127.0.0.2, which is not one of its own names.
  server = await startTestServer({ server: { address: { type: "tcp", host: "0.0.0.0", port: 0 } } });
});
afterAll(() => server[Symbol.asyncDispose]());

type Said = Pick<Refusal, "code" | "message">;

const host: Said = {
  code: "permission_denied",
  message: "this server does not answer for that host; if it should: --allow-host",
};
const token: Said = { code: "unauthenticated", message: "send the server's token: Authorization: Bearer <token>" };
const origin: Said = {
  code: "permission_denied",
  message: "this origin is not allowed; if it should be: --allow-origin",
};

const calls: readonly (readonly [string, (client: AgentClient) => Promise<unknown>])[] = [
  ["a call", (client) => client.getServerInfo({})],
  ["a call with 8 MB", (client) => client.startTurn({ sessionId: "none", userInput: "a".repeat(8_000_000) })],
  [
    "a stream",
    async (client) => {
      for await (const event of client.subscribe({ sessionId: "none" })) return event;
      return undefined;
    },
  ],
];

test.each(calls)("%s of our own client, which is gRPC-Web over fetch, reads why it is refused", async (_name, call) => {
  const elsewhere = `http://127.0.0.2:${server.port}`;
  expect(await refusalOf(call(connect({ baseUrl: elsewhere, token: server.token })))).toMatchObject(host);
  expect(await refusalOf(call(connect({ baseUrl: server.url, token: "x".repeat(43) })))).toMatchObject(token);
});

const headers: readonly (readonly [Readonly<Record<string, string>>, Said])[] = [
  [{ Host: "evil.example" }, host],
  [{ Authorization: "Bearer none" }, token],
  [{ Origin: "https://evil.example" }, origin],
];

test.each(headers)("gRPC-Web and Connect clients that send %o read why they are refused", async (sent, said) => {
  const baseUrl = server.url;
  const options = { baseUrl, httpVersion: "1.1" as const, interceptors: [sending({ ...own(), ...sent })] };
  const grpcWeb = clientOf(createGrpcWebTransport(options));
  // Foreign clients make of the status what their library makes of it: 421 is nothing that gRPC-Web knows.
  const known = said === host ? { ...host, code: "unknown" } : said;
  for (const [, call] of calls) expect(await refusalOf(call(grpcWeb))).toMatchObject(known);
  const unary = clientOf(createConnectTransport(options));
  for (const [, call] of calls.slice(0, 2)) expect(await refusalOf(call(unary))).toMatchObject(said);
});

test("over HTTP/2 as well", async () => {
  await using certificates = await makeTestCertificates();
  const tls = await certificates.issue("server");
  await using encrypted = await startTestServer({ server: { tls } });
  const { ca } = certificates;
  const asked = async (authorization: string, call: (client: AgentClient) => Promise<unknown>) => {
    const baseUrl = `https://127.0.0.1:${encrypted.port}`;
    const sessionManager = new Http2SessionManager(baseUrl, {}, { ca });
    const options = { baseUrl, httpVersion: "2" as const, sessionManager };
    const interceptors = [sending({ Authorization: authorization })];
    const answer = await refusalOf(call(clientOf(createGrpcWebTransport({ ...options, interceptors }))));
    sessionManager.abort();
    return answer;
  };
  for (const [, call] of calls) expect(await asked("Bearer none", call)).toMatchObject(token);
});

function own(): Readonly<Record<string, string>> {
  return { Authorization: `Bearer ${server.token}` };
}

function sending(headers: Readonly<Record<string, string>>): Interceptor {
  return (next) => (request) => {
    for (const [name, value] of Object.entries(headers)) request.header.set(name, value);
    return next(request);
  };
}

function clientOf(transport: Transport): AgentClient {
  return connect({ baseUrl: server.url, transport });
}
