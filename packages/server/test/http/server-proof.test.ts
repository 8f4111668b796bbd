import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { listenHttp } from "#http/http-server";
import { CHALLENGE_PATH, challengeRoute, proveServer } from "#http/server-proof";
import { createToken } from "#http/token";

const TOKEN = createToken();

async function realServer(options: { readonly now?: () => number } = {}) {
  const listener = await listenHttp({
    address: { type: "tcp", host: "127.0.0.1", port: 0 },
    token: TOKEN,
    routes: () => new Map([[CHALLENGE_PATH, challengeRoute(TOKEN, options)]]),
  });
  onTestFinished(() => listener[Symbol.asyncDispose]());
  return listener;
}

/** A process that took the port; `seen` is all it ever received. */
async function squatter(answer: (body: string, request: IncomingMessage) => Promise<{ status: number; body: string }>) {
  const seen: string[] = [];
  const handle: RequestListener = (request, response) => {
    void (async () => {
      const body = await text(request);
      seen.push(JSON.stringify(request.rawHeaders), body);
      const { status, body: sent } = await answer(body, request);
      response.writeHead(status).end(sent);
    })();
  };
  const server = createServer(handle).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return { url: `http://127.0.0.1:${port}`, seen };
}

const prove = (url: string, token = TOKEN) => proveServer({ url }, token, { signal: AbortSignal.timeout(5_000) });

function challenge(url: string, body: string, headers: Record<string, string> = {}) {
  return fetch(url + CHALLENGE_PATH, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body,
  });
}

test("a server that knows the token proves it, one that knows another cannot", async () => {
  const { url } = await realServer();
  expect(await prove(url)).toBe(true);
  expect(await prove(url, createToken())).toBe(false);
});

describe("a squatter is refused and never sees the token", () => {
  test.each<[string, number, string]>([
    ["says nothing useful", 200, "{}"],
    ["guesses", 200, JSON.stringify({ proof: Buffer.alloc(32).toString("base64url") })],
    ["sends an empty proof", 200, '{"proof":""}'],
    ["sends no JSON", 200, "welcome"],
    ["sends a list", 200, "[1]"],
    ["sends too much", 200, JSON.stringify({ proof: "a".repeat(100_000) })],
    ["asks for the token", 401, '{"code":"unauthenticated"}'],
    ["does not know the path", 404, ""],
    ["sends the browser elsewhere", 302, ""],
  ])("%s", async (_name, status, body) => {
    const { url, seen } = await squatter(() => Promise.resolve({ status, body }));
    expect(await prove(url)).toBe(false);
    expect(seen.join("\n")).not.toContain(TOKEN);
    expect(seen.join("\n").toLowerCase()).not.toContain("authorization");
  });

  test("passes the challenge on to the real server", async () => {
    const real = await realServer();
    const { url, seen } = await squatter(async (body) => {
      const answer = await challenge(real.url, body);
      return { status: answer.status, body: await answer.text() };
    });
    expect(await prove(url)).toBe(false);
    expect(seen.join("\n")).not.toContain(TOKEN);
  });

  test("hangs, until the signal aborts", async () => {
    const { url } = await squatter(() => new Promise(() => undefined));
    await expect(proveServer({ url }, TOKEN, { signal: AbortSignal.timeout(50) })).rejects.toThrow();
  });
});

test("nobody there is an error, not a proof", async () => {
  const { url } = await squatter(() => Promise.resolve({ status: 200, body: "" }));
  const unused = new URL(url);
  unused.port = "1";
  await expect(prove(unused.href)).rejects.toThrow();
});

describe("the challenge is narrow", () => {
  test.each<[string, string]>([
    ["no JSON", "x"],
    ["no nonce", "{}"],
    ["a short nonce", '{"nonce":"abc"}'],
    ["a nonce of other characters", JSON.stringify({ nonce: `127.0.0.1:7777:${"a".repeat(30)}` })],
    ["a nonce that is no text", '{"nonce":[1]}'],
    ["a long nonce", JSON.stringify({ nonce: "a".repeat(129) })],
    ["a long body", JSON.stringify({ nonce: "a".repeat(40), more: "b".repeat(2_000) })],
  ])("%s: 400", async (_name, body) => {
    const { url } = await realServer();
    const answer = await challenge(url, body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: "invalid_argument" });
  });

  test("a page cannot ask, nor can another name", async () => {
    const { url, port } = await realServer();
    const body = JSON.stringify({ nonce: "a".repeat(40) });
    expect((await challenge(url, body, { Origin: "https://evil.example" })).status).toBe(403);
    const socket = connect(port ?? 0, "127.0.0.1");
    socket
      .setEncoding("utf8")
      .end(`POST ${CHALLENGE_PATH} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 421 /);
  });

  test("so many a second, then 429, then again", async () => {
    let now = 0;
    const { url } = await realServer({ now: () => now });
    const ask = async () => (await challenge(url, JSON.stringify({ nonce: "a".repeat(40) }))).status;
    const statuses: number[] = [];
    for (let count = 0; count < 51; count += 1) statuses.push(await ask());
    expect(statuses.slice(0, 50).every((status) => status === 200)).toBe(true);
    expect(statuses[50]).toBe(429);
    now += 1_000;
    expect(await ask()).toBe(200);
  });
});
