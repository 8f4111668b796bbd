import { createHmac, randomBytes } from "node:crypto";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { challengePath } from "@gennai/protocol/server-proof";
import { describe, expect, onTestFinished, test } from "vitest";
import { challengeRoute } from "#http/challenge-route";
import { listenHttp } from "#http/listen/http-server";
import { createToken } from "#http/token";

const TOKEN = createToken();

async function realServer(options: { readonly now?: () => number } = {}) {
  const listener = await listenHttp({
    address: { type: "tcp", host: "127.0.0.1", port: 0 },
    onError: (error) => expect.unreachable(String(error)),
    token: TOKEN,
    routes: () => new Map([[challengePath, challengeRoute(TOKEN, options)]]),
  });
  onTestFinished(() => listener[Symbol.asyncDispose]());
  return listener;
}

function challenge(url: string, body: string, headers: Record<string, string> = {}) {
  return fetch(url + challengePath, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body,
  });
}

test("what is asked is signed with the token, for the name the server was reached by", async () => {
  const { url } = await realServer();
  const nonce = randomBytes(32).toString("base64url");
  const text = `gennai-server-proof:${new URL(url).host}:${nonce}`;
  const answer = await challenge(url, JSON.stringify({ nonce }));
  expect(await answer.json()).toEqual({ proof: createHmac("sha256", TOKEN).update(text).digest("base64url") });
});

describe("the challenge is narrow", () => {
  test.each<[string, string]>([
    ["no JSON", "x"],
    ["no nonce", "{}"],
    ["a short nonce", '{"nonce":"abc"}'],
    ["a nonce of other characters", JSON.stringify({ nonce: `127.0.0.1:7777:${"a".repeat(30)}` })],
    ["a nonce that is not text", '{"nonce":[1]}'],
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
    socket.setEncoding("utf8").end(`POST ${challengePath} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`);
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
