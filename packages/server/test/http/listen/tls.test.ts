import { chmod, writeFile } from "node:fs/promises";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { makeTestCertificates, type TestCertificates } from "@gennai/testkit/test-certificates";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type HttpListener, type HttpServerOptions, listenHttp } from "#http/listen/http-server";
import { readTlsFiles } from "#http/listen/tls-files";
import { healthRoute } from "#http/probe-routes";
import { rpcRoutes } from "#http/route";
import { createToken } from "#http/token";
import { openPageDoor } from "#page/page-routes";
import { PageTokens } from "#page/page-tokens";

const RPC = "/gennai.agent.v1.AgentService/StartTurn";
const token = createToken();
let certificates: TestCertificates;
let files: { readonly cert: string; readonly key: string };

beforeAll(async () => {
  certificates = await makeTestCertificates();
  files = await certificates.issue("server");
});
afterAll(() => certificates[Symbol.asyncDispose]());

async function start(options: Partial<HttpServerOptions> = {}): Promise<HttpListener> {
  const listener = await listenHttp({
    address: { type: "tcp", host: "127.0.0.1", port: 0 },
    onError: (error) => expect.unreachable(String(error)),
    token,
    tls: await readTlsFiles(files),
    routes: () =>
      new Map([
        ...rpcRoutes([RPC], async (incoming, response) => void response.end(await text(incoming))),
        ["/health", healthRoute(() => ({ version: "1" }))],
      ]),
    timeouts: { headers: 500, shutdown: 500 },
    ...options,
  });
  onTestFinished(() => listener[Symbol.asyncDispose]());
  return listener;
}

function http2(listener: HttpListener): ClientHttp2Session {
  const session = connectHttp2(listener.url, { ca: certificates.ca });
  session.on("error", () => undefined);
  onTestFinished(() => void session.destroy());
  return session;
}

async function ask2(
  session: ClientHttp2Session,
  headers: Readonly<Record<string, string>>,
  body = "",
): Promise<{ readonly status: number; readonly body: string }> {
  const isGet = headers[":method"] === "GET";
  const stream = session.request({ ":method": "POST", ":path": RPC, ...headers }, { endStream: isGet });
  if (!isGet) stream.end(body);
  const status = new Promise<number>((resolve, reject) => {
    stream.once("response", (answer) => resolve(answer[":status"] ?? 0)).once("error", reject);
  });
  return { status: await status, body: await text(stream) };
}

async function ask1(listener: HttpListener, headers: Readonly<Record<string, string>>): Promise<number> {
  const outgoing = request(new URL(RPC, listener.url), { method: "POST", ca: certificates.ca, agent: false, headers });
  const answered = new Promise<number>((resolve, reject) => {
    outgoing.once("response", (response) => resolve(response.resume().statusCode ?? 0)).once("error", reject);
  });
  outgoing.end("x");
  return answered;
}

const good = { authorization: `Bearer ${token}`, "content-type": "application/grpc-web+proto" };

test("serves HTTP/2 and HTTP/1.1 on one port, whichever the client chooses", async () => {
  const listener = await start();
  expect(listener.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  const session = http2(listener);
  expect(await ask2(session, good, "hello")).toEqual({ status: 200, body: "hello" });
  expect(session.alpnProtocol).toBe("h2");
  expect(await ask1(listener, good)).toBe(200);
});

test("gives the page and its files to browsers, which speak HTTP/2", async () => {
  const files = [{ name: "repl.js", mediaType: "text/javascript", bytes: Buffer.from("here()"), tag: "t" }];
  const facts = { version: "1", authenticated: true };
  const door = openPageDoor({ files, facts, tokens: new PageTokens({ limit: 1 }), scheme: "https" });
  const session = http2(await start({ routes: () => new Map([["/", door.page], ...door.routes]) }));
  const get = (path: string, more: object = {}) => ask2(session, { ":method": "GET", ":path": path, ...more });
  expect(await get("/")).toMatchObject({ status: 200, body: expect.stringContaining("/assets/repl.js") });
  expect(await get("/assets/repl.js")).toEqual({ status: 200, body: "here()" });
  expect((await get("/assets/repl.js", { "if-none-match": '"t"' })).status).toBe(304);
});

test.each<[string, number, Readonly<Record<string, string>>]>([
  ["no token", 401, { ...good, authorization: "" }],
  ["another token", 401, { ...good, authorization: `Bearer ${createToken()}` }],
  ["another host", 421, { ...good, ":authority": "evil.example" }],
  ["two hosts", 400, { ...good, ":authority": "ORIGIN", host: "evil.example" }],
  ["the host by its old name", 421, { ...good, host: "evil.example" }],
  ["another page", 403, { ...good, origin: "https://evil.example" }],
  ["this page, unencrypted", 403, { ...good, origin: "http://ORIGIN" }],
  ["this page", 200, { ...good, origin: "https://ORIGIN" }],
  ["another kind of body", 415, { ...good, "content-type": "text/plain" }],
  ["another path", 404, { ...good, ":path": "/nothing" }],
  ["another method", 405, { ...good, ":method": "GET" }],
])("the guard holds for HTTP/2 as well: %s: %i", async (_what, status, headers) => {
  const listener = await start();
  const own = `127.0.0.1:${listener.port}`;
  const sent = Object.entries(headers).map(([name, value]) => [name, value.replace("ORIGIN", own)]);
  expect((await ask2(http2(listener), Object.fromEntries(sent))).status).toBe(status);
});

test.each([
  ["TLSv1.2", true],
  ["TLSv1.1", false],
] as const)("%s: %s", async (version, works) => {
  const listener = await start();
  const socket = connectTls({
    port: listener.port ?? 0,
    host: "127.0.0.1",
    ca: certificates.ca,
    servername: "localhost",
    minVersion: version,
    maxVersion: version,
    ciphers: "DEFAULT@SECLEVEL=0",
  });
  onTestFinished(() => void socket.destroy());
  const connected = new Promise<boolean>((resolve) => {
    socket.once("secureConnect", () => resolve(true)).once("error", () => resolve(false));
  });
  expect(await connected).toBe(works);
});

test("plain HTTP on the port gets no answer that an eavesdropper could use", async () => {
  const listener = await start();
  await expect(fetch(`http://127.0.0.1:${listener.port}/health`)).rejects.toThrow("fetch failed");
});

test("a new certificate counts from the next connection on", async () => {
  const listener = await start();
  const peer = async (): Promise<string> => {
    const socket: TLSSocket = connectTls({ port: listener.port ?? 0, host: "127.0.0.1", ca: certificates.ca });
    onTestFinished(() => void socket.destroy());
    await new Promise<void>((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject));
    return String(socket.getPeerCertificate().subject.CN);
  };
  expect(await peer()).toBe("server");
  listener.renewTls(await readTlsFiles(await certificates.issue("renewed")));
  expect(await peer()).toBe("renewed");
});

test("closing ends connections of both kinds, and those that say nothing", async () => {
  const listener = await start();
  const session = http2(listener);
  await ask2(session, good);
  const silent = connectTls({ port: listener.port ?? 0, host: "127.0.0.1", ca: certificates.ca });
  await new Promise<void>((resolve) => silent.once("secureConnect", resolve));
  const began = performance.now();
  await listener[Symbol.asyncDispose]();
  expect(performance.now() - began).toBeLessThan(2_000);
});

describe("what cannot be used", () => {
  test("a key that others can read", async () => {
    const { cert, key } = await certificates.issue("open");
    await chmod(key, 0o640);
    await expect(readTlsFiles({ cert, key })).rejects.toThrow("run chmod 600");
  });

  test("the key of another certificate", async () => {
    const other = await certificates.issue("other");
    await expect(readTlsFiles({ cert: files.cert, key: other.key })).rejects.toThrow("no certificate and its key");
  });

  test("what is no certificate", async () => {
    const { key } = files;
    const cert = `${key}.txt`;
    await writeFile(cert, "no certificate\n");
    await expect(readTlsFiles({ cert, key })).rejects.toThrow("PEM");
  });
});
