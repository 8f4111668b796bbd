import { link, mkdtemp, rm, stat } from "node:fs/promises";
import { request, type ServerResponse } from "node:http";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { ConnectError } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test } from "vitest";
import { type HttpListener, type HttpServerOptions, listenHttp } from "#http/listen/http-server";
import { PortTakenError } from "#http/listen/listen-address";
import { healthRoute } from "#http/probe-routes";
import { rpcRoutes } from "#http/route";
import { createToken } from "#http/token";

const RPC = "/gennai.agent.v1.AgentService/StartTurn";
const TOKEN = createToken();
const AUTHORIZATION = `Authorization: Bearer ${TOKEN}`;

type Handler = Parameters<typeof rpcRoutes>[1];

async function start(options: Partial<HttpServerOptions> & { readonly handler?: Handler } = {}): Promise<HttpListener> {
  const handler = options.handler ?? (async (incoming, response) => void response.end(await text(incoming)));
  const listener = await listenHttp({
    address: { type: "tcp", host: "127.0.0.1", port: 0 },
    token: TOKEN,
    onError: (error) => expect.unreachable(String(error)),
    routes: () => new Map([...rpcRoutes([RPC], handler), ["/health", healthRoute(() => ({ version: "1.2.3" }))]]),
    ...options,
  });
  onTestFinished(() => listener[Symbol.asyncDispose]());
  return listener;
}

function dial(listener: HttpListener): Socket {
  const socket = connect(listener.port ?? 0, "127.0.0.1");
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Everything the server sends until it closes the connection. `HOST` in the bytes stands for the right Host value. */
async function exchange(listener: HttpListener, bytes: string): Promise<string> {
  const socket = dial(listener);
  socket.setEncoding("latin1").write(bytes.replaceAll("HOST", `127.0.0.1:${listener.port}`), "latin1");
  let answer = "";
  for await (const chunk of socket) answer += String(chunk);
  return answer;
}

function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);
}

const lines = (...all: readonly string[]): string => all.join("\r\n");

describe("raw requests", () => {
  test.each<[string, number, string]>([
    [
      "a good one",
      200,
      lines(
        `POST ${RPC} HTTP/1.1`,
        "Host: HOST",
        AUTHORIZATION,
        "Content-Type: application/proto",
        "Content-Length: 2",
        "Connection: close",
        "",
        "hi",
      ),
    ],
    ["HTTP/1.1 without Host", 400, lines(`GET /health HTTP/1.1`, AUTHORIZATION, "", "")],
    ["HTTP/1.0 without Host", 400, lines(`GET /health HTTP/1.0`, AUTHORIZATION, "", "")],
    ["two Host headers", 400, lines(`GET /health HTTP/1.1`, "Host: HOST", "Host: evil.example", AUTHORIZATION, "", "")],
    [
      "two Authorization headers",
      400,
      lines(`GET /health HTTP/1.1`, "Host: HOST", AUTHORIZATION, AUTHORIZATION, "", ""),
    ],
    ["user info in Host", 400, lines(`GET /health HTTP/1.1`, "Host: HOST@evil", AUTHORIZATION, "", "")],
    ["a folded header", 400, lines(`GET /health HTTP/1.1`, "Host: HOST", "X-A: b", " c", AUTHORIZATION, "", "")],
    ["a NUL in a header", 400, lines(`GET /health HTTP/1.1`, "Host: HOST", "X-A: b\0c", AUTHORIZATION, "", "")],
    ["a bare LF", 400, lines(`GET /health HTTP/1.1`, "Host: HOST", "X-A: b\nX-B: c", AUTHORIZATION, "", "")],
    ["a space before the colon", 400, lines(`GET /health HTTP/1.1`, "Host : HOST", AUTHORIZATION, "", "")],
    [
      "length and chunked at once",
      400,
      lines(
        `POST ${RPC} HTTP/1.1`,
        "Host: HOST",
        AUTHORIZATION,
        "Content-Length: 3",
        "Transfer-Encoding: chunked",
        "",
        "0",
        "",
        "",
      ),
    ],
    [
      "two lengths",
      400,
      lines(`POST ${RPC} HTTP/1.1`, "Host: HOST", AUTHORIZATION, "Content-Length: 3", "Content-Length: 4", "", "abc"),
    ],
    ["garbage", 400, "\u0016\u0003\u0001\0\0hello\r\n\r\n"],
    ["64 KB of headers", 431, lines(`GET /health HTTP/1.1`, "Host: HOST", `X-A: ${"a".repeat(65_536)}`, "", "")],
    ["the HTTP/2 preface", 400, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    [
      "another host",
      421,
      lines(`GET /health HTTP/1.1`, "Host: evil.example", AUTHORIZATION, "Connection: close", "", ""),
    ],
    [
      "another host in absolute form",
      421,
      lines(`GET http://evil.example/health HTTP/1.1`, "Host: HOST", AUTHORIZATION, "Connection: close", "", ""),
    ],
    [
      "a foreign origin",
      403,
      lines(`GET /health HTTP/1.1`, "Host: HOST", "Origin: null", AUTHORIZATION, "Connection: close", "", ""),
    ],
    ["no token", 401, lines(`GET /health HTTP/1.1`, "Host: HOST", "Connection: close", "", "")],
    ["path steps", 404, lines(`GET /x/../health HTTP/1.1`, "Host: HOST", AUTHORIZATION, "Connection: close", "", "")],
    ["TRACE", 404, lines(`TRACE / HTTP/1.1`, "Host: HOST", AUTHORIZATION, "Connection: close", "", "")],
    [
      "an upgrade, ignored",
      200,
      lines(
        `GET /health HTTP/1.1`,
        "Host: HOST",
        AUTHORIZATION,
        "Connection: upgrade, close",
        "Upgrade: websocket",
        "",
        "",
      ),
    ],
    [
      "a body announced but refused",
      401,
      lines(
        `POST ${RPC} HTTP/1.1`,
        ...["Host: HOST", "Expect: 100-continue", "Content-Length: 9", "Connection: close", "", ""],
      ),
    ],
  ])("%s: %i", async (_name, status, bytes) => {
    expect(statusOf(await exchange(await start(), bytes))).toBe(status);
  });

  test("CONNECT gets no tunnel", async () => {
    const answer = await exchange(
      await start(),
      lines("CONNECT evil.example:443 HTTP/1.1", "Host: HOST", AUTHORIZATION, "", ""),
    );
    expect(answer).not.toMatch(/^HTTP\/1\.1 2/);
  });

  test("an announced body is asked for once the request passed", async () => {
    const listener = await start();
    const head = lines(
      `POST ${RPC} HTTP/1.1`,
      "Host: HOST",
      AUTHORIZATION,
      "Content-Type: application/proto",
      "Expect: 100-continue",
      "Content-Length: 2",
      "Connection: close",
      "",
      "hi",
    );
    expect(await exchange(listener, head)).toMatch(/^HTTP\/1\.1 100 [^]*HTTP\/1\.1 200 [^]*hi$/);
  });

  test("what follows a malformed request is not read", async () => {
    const good = lines(`GET /health HTTP/1.1`, "Host: HOST", AUTHORIZATION, "", "");
    const answer = await exchange(await start(), lines(`GET /health HTTP/1.1`, AUTHORIZATION, "", "") + good);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });
});

describe("answers", () => {
  test("health tells the token's owner", async () => {
    const { url } = await start();
    const answer = await fetch(`${url}/health`, { headers: { Authorization: `Bearer ${TOKEN}` } });
    expect(await answer.json()).toEqual({ version: "1.2.3" });
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  test("a refusal is JSON with a code, and says nothing about the server", async () => {
    const { url } = await start();
    const answer = await fetch(`${url}/health`);
    expect(answer.status).toBe(401);
    expect(await answer.json()).toEqual({ code: "unauthenticated", message: expect.stringContaining("token") });
    expect(answer.headers.get("server")).toBeNull();
    expect(answer.headers.get("x-powered-by")).toBeNull();
  });

  test("a handler that throws answers 500 without its text, which the server's log gets", async () => {
    const told: unknown[] = [];
    const handler = () => Promise.reject(new Error("inner secret"));
    const { url } = await start({ handler, onError: (error) => void told.push(error) });
    const headers = { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/proto" };
    const answer = await fetch(url + RPC, { method: "POST", headers });
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain("secret");
    expect(told).toEqual([new Error("inner secret")]);
  });
});

describe("slow and rude peers", () => {
  const timeouts = { headers: 150, request: 300, shutdown: 50 };

  test("headers that trickle in: 408", async () => {
    const listener = await start({ timeouts });
    const socket = dial(listener);
    socket.setEncoding("latin1").write("GET /health HTTP/1.1\r\n");
    const trickle = setInterval(() => socket.write("X"), 20);
    let answer = "";
    for await (const chunk of socket) answer += String(chunk);
    clearInterval(trickle);
    expect(statusOf(answer)).toBe(408);
  });

  test.each([
    ["without their headers", `POST ${RPC} HTTP/1.1\r\nHost: HOST\r\n`],
    ["refused, and without their bodies", `POST ${RPC} HTTP/1.1\r\nHost: HOST\r\nContent-Length: 9\r\n\r\n`],
  ])("any number of requests %s keeps out nobody with a token", async (_name, half) => {
    const listener = await start({ maxConnections: 20 });
    const health = lines("GET /health HTTP/1.1", "Host: HOST", AUTHORIZATION, "Connection: close", "", "");
    for (let count = 0; count < 100; count += 1) {
      dial(listener).write(half.replace("HOST", `127.0.0.1:${listener.port}`));
      if (count % 20 === 0) expect(statusOf(await exchange(listener, health))).toBe(200);
    }
    expect(statusOf(await exchange(listener, health))).toBe(200);
  });

  test("a body that trickles in: 408", async () => {
    const listener = await start({ timeouts });
    const head = lines(
      `POST ${RPC} HTTP/1.1`,
      "Host: HOST",
      AUTHORIZATION,
      "Content-Type: application/proto",
      "Content-Length: 1000",
      "",
      "a",
    );
    expect(statusOf(await exchange(listener, head))).toBe(408);
  });

  test("an answer may stream for longer than any request may take", async () => {
    const listener = await start({
      timeouts: { headers: 100, request: 100, keepAlive: 100 },
      handler: (_incoming, response) => {
        response.write("first ");
        setTimeout(() => response.end("last"), 1_500);
      },
    });
    const headers = { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/proto" };
    const answer = await fetch(listener.url + RPC, { method: "POST", headers });
    expect(await answer.text()).toBe("first last");
  });

  test("peers that vanish in the middle of an answer change nothing", async () => {
    const listener = await start({
      handler: (_incoming, response) => {
        const ticker = setInterval(() => response.write("x".repeat(65_536)), 1);
        response.once("close", () => clearInterval(ticker));
      },
    });
    const head = lines(
      `POST ${RPC} HTTP/1.1`,
      `Host: 127.0.0.1:${listener.port}`,
      AUTHORIZATION,
      "Content-Type: application/proto",
      "Content-Length: 0",
      "",
      "",
    );
    for (let count = 0; count < 5; count += 1) {
      const socket = dial(listener);
      socket.write(head);
      await new Promise((resolve) => socket.once("data", resolve));
      socket.resetAndDestroy();
    }
    const health = await fetch(`${listener.url}/health`, { headers: { Authorization: `Bearer ${TOKEN}` } });
    expect(health.status).toBe(200);
  });
});

describe("closing", () => {
  test("streams are told, end, and everything is closed", async () => {
    const reasons: unknown[] = [];
    const open: ServerResponse[] = [];
    const listener = await start({
      routes: ({ shutdown }) => {
        shutdown.addEventListener("abort", () => {
          reasons.push(shutdown.reason);
          for (const response of open) response.end("bye");
        });
        return new Map(
          rpcRoutes([RPC], (_incoming, response) => {
            response.write("hello ");
            open.push(response);
          }),
        );
      },
    });
    const headers = { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/proto" };
    const answer = await fetch(listener.url + RPC, { method: "POST", headers });
    const began = performance.now();
    await listener[Symbol.asyncDispose]();
    expect(performance.now() - began).toBeLessThan(1_500);
    expect(await answer.text()).toBe("hello bye");
    expect(reasons).toEqual([expect.any(ConnectError)]);
    await expect(fetch(`${listener.url}/health`)).rejects.toThrow();
  });

  test("a stream that does not end is cut, and closing twice is fine", async () => {
    const listener = await start({
      timeouts: { shutdown: 50 },
      handler: (_incoming, response) => void response.write("x"),
    });
    const headers = { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/proto" };
    const answer = await fetch(listener.url + RPC, { method: "POST", headers });
    await listener[Symbol.asyncDispose]();
    await listener[Symbol.asyncDispose]();
    await expect(answer.text()).rejects.toThrow();
  });
});

describe("where it listens", () => {
  test("a taken port names a free one", async () => {
    const first = await start();
    const port = first.port ?? 0;
    const failure = await start({ address: { type: "tcp", host: "127.0.0.1", port } }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(PortTakenError);
    if (!(failure instanceof PortTakenError) || failure.freePort === undefined) return;
    expect(failure.message).toContain(String(failure.freePort));
    const second = await start({ address: { type: "tcp", host: "127.0.0.1", port: failure.freePort } });
    expect(second.port).toBe(failure.freePort);
  });

  test("a unix socket, for this user only, also over one a killed server left", async () => {
    const directory = await mkdtemp(join(tmpdir(), "gennai-http-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const path = join(directory, "server.sock");
    // A listener whose file is there but which nobody answers.
    const killed = createServer().listen(join(directory, "other.sock"));
    await new Promise((resolve) => killed.once("listening", resolve));
    await link(join(directory, "other.sock"), path);
    await new Promise((resolve) => killed.close(resolve));

    const listener = await start({ address: { type: "socket", path } });
    expect((await stat(path)).mode & 0o022).toBe(0);
    const status = await new Promise((resolve, reject) => {
      const headers = { Authorization: `Bearer ${TOKEN}` };
      request({ socketPath: path, path: "/health", headers }, (answer) => resolve(answer.resume().statusCode))
        .once("error", reject)
        .end();
    });
    expect(status).toBe(200);
    await expect(start({ address: { type: "socket", path } })).rejects.toThrow(PortTakenError);
    await listener[Symbol.asyncDispose]();
    await expect(stat(path)).rejects.toThrow();
  });
});
