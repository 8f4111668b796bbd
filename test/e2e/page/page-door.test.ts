import { request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";
import { createGrpcWebTransport } from "@connectrpc/connect-node";
import { connect } from "@gennai/client/connection/connection";
import { PAGE_CLOSE_PATH, PAGE_TOKEN_PATH } from "@gennai/protocol/page-paths";
import { type TemporaryDirectory, temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const rpc = "/gennai.agent.v1.AgentService/";
let page: TemporaryDirectory;
let server: TestServer;

beforeAll(async () => {
  page = await temporaryDirectory({
    "repl.js": "console.log(1);\n",
    "repl.css": "body {}\n",
    "secret.txt": "not part of the page\n",
    "repl.js.map": "{}",
  });
  server = await startTestServer({ server: { pageDirectory: page.root } });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await page[Symbol.asyncDispose]();
});

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

interface Asked {
  readonly path: string;
  readonly method?: string;
  readonly body?: unknown;
  /** undefined leaves a header out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** Not fetch: that would not let us choose `Host` and `Origin`. */
async function ask({ path, body, method = body === undefined ? "GET" : "POST", headers = {} }: Asked): Promise<Answer> {
  const own = `http://127.0.0.1:${server.port}`;
  const all = {
    ...(body === undefined ? {} : { "Content-Type": "application/json", Origin: own, "Sec-Fetch-Site": "same-origin" }),
    ...headers,
  };
  const sent = Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const outgoing = httpRequest(
    { host: "127.0.0.1", port: server.port, path, method, headers: sent, agent: false },
    (response) => {
      text(response).then(
        (answered) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: answered }),
        reject,
      );
    },
  );
  outgoing.once("error", reject).end(body === undefined ? undefined : JSON.stringify(body));
  return promise;
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

function freshCode(): string {
  const code = new URL(server.running.pageLink() ?? "").hash.slice(1);
  expect(code).toMatch(/^[\w-]{32}$/);
  return code;
}

/** Who is told to wait, waits: these tests ask more often than people do. */
async function patiently(asked: Asked): Promise<Answer> {
  for (;;) {
    const answer = await ask(asked);
    if (answer.status !== 429) return answer;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}

const exchange = (code: string, headers: Asked["headers"] = {}) =>
  patiently({ path: PAGE_TOKEN_PATH, body: { code }, headers });

async function freshToken(): Promise<string> {
  const { status, body } = await exchange(freshCode());
  expect(status).toBe(200);
  const { token }: { token: string } = JSON.parse(body);
  return token;
}

const call = (token: string, headers: Asked["headers"] = {}) =>
  ask({ path: `${rpc}GetServerInfo`, body: {}, headers: { ...bearer(token), ...headers } });

describe("the page's files", () => {
  test("come to everybody who reaches the port, with strict headers and no secrets", async () => {
    const wanted = { "/": "text/html", "/assets/repl.js": "text/javascript", "/assets/repl.css": "text/css" };
    for (const [path, mediaType] of Object.entries(wanted)) {
      const { status, headers, body } = await ask({ path });
      expect([path, status]).toEqual([path, 200]);
      expect(headers["content-type"]).toContain(mediaType);
      expect(headers).toMatchObject({
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "content-security-policy":
          "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; " +
          "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      });
      expect(headers["set-cookie"]).toBeUndefined();
      expect(headers["access-control-allow-origin"]).toBeUndefined();
      expect(body).not.toContain(server.token);
    }
    const { body } = await ask({ path: "/" });
    expect(body).toContain('src="/assets/repl.js"');
    expect(body).not.toMatch(/<script(?![^>]* src=)|<style|style=| on\w+=/);
  });

  test("are asked about, not sent again", async () => {
    const { headers } = await ask({ path: "/assets/repl.js" });
    const tag = String(headers["etag"]);
    expect((await ask({ path: "/assets/repl.js", headers: { "If-None-Match": tag } })).status).toBe(304);
    expect((await ask({ path: "/assets/repl.js", headers: { "If-None-Match": '"other"' } })).status).toBe(200);
  });

  test.each([
    ["another file of the directory", "/assets/secret.txt", 401],
    ["a source map", "/assets/repl.js.map", 401],
    ["a way up", "/assets/../../package.json", 401],
    ["a way up, encoded", "/assets/%2e%2e/repl.js", 401],
    ["a directory", "/assets/", 401],
    ["a code in the query", "/?code=abc", 401],
    ["a token in the query", `/?token=${"t".repeat(43)}`, 401],
    ["a code in the query of the exchange", `${PAGE_TOKEN_PATH}?code=abc`, 401],
  ])("%s is not among them", async (_what, path, status) => {
    expect((await ask({ path })).status).toBe(status);
  });

  test("a page that is not built says how to build it", async () => {
    await using empty = await temporaryDirectory();
    await using unbuilt = await startTestServer({ server: { pageDirectory: empty.root } });
    const answer = await fetch(unbuilt.url);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain("packages/repl/scripts/build.mjs");
  });

  test("a server without a page has no door", async () => {
    await using bare = await startTestServer();
    expect(bare.running.pageLink()).toBeUndefined();
    expect((await fetch(bare.url)).status).toBe(401);
  });
});

describe("the one-time code", () => {
  test("cannot be guessed", async () => {
    expect((await exchange("A".repeat(32))).status).toBe(403);
    const flood = await Promise.all(
      Array.from({ length: 30 }, () => ask({ path: PAGE_TOKEN_PATH, body: { code: "A".repeat(32) } })),
    );
    expect(flood.map(({ status }) => status)).toContain(429);
  });

  test.each<[string, Asked["headers"], number]>([
    ["from another origin", { Origin: "https://evil.example" }, 403],
    ["from another port", { Origin: "http://127.0.0.1:1" }, 403],
    ["from nowhere", { Origin: "null" }, 403],
    ["without an origin", { Origin: undefined }, 403],
    ["from another site, by its own word", { "Sec-Fetch-Site": "cross-site" }, 403],
    ["from another port, by its own word", { "Sec-Fetch-Site": "same-site" }, 403],
    ["for another host", { Host: "evil.example", Origin: "http://evil.example" }, 421],
    ["as a form", { "Content-Type": "application/x-www-form-urlencoded" }, 415],
    ["as text", { "Content-Type": "text/plain" }, 415],
  ])("is not taken %s, and stays good", async (_what, headers, status) => {
    const code = freshCode();
    expect((await exchange(code, headers)).status).toBe(status);
    expect((await exchange(code)).status).toBe(200);
  });

  test.each([{}, { code: "" }, { code: 1 }, { code: "a b" }, { code: "A".repeat(2000) }, { code: "A", more: 1 }, []])(
    "is nothing else: %j",
    async (body) => {
      expect((await patiently({ path: PAGE_TOKEN_PATH, body })).status).toBe(400);
    },
  );
});

describe("a page's token", () => {
  test("is good no more when the page gives it back, also for what it is being told", async () => {
    const [token, other] = [await freshToken(), await freshToken()];
    const { sessionId } = await server.client.startSession({});
    const client = connect({
      baseUrl: server.url,
      transport: createGrpcWebTransport({
        baseUrl: server.url,
        httpVersion: "1.1",
        interceptors: [
          (next) => (request) => {
            request.header.set("Authorization", `Bearer ${token}`);
            request.header.set("Origin", server.url);
            return next(request);
          },
        ],
      }),
    });
    const heard = client.subscribe({ sessionId })[Symbol.asyncIterator]();
    expect((await heard.next()).done).toBe(false);
    expect((await ask({ path: PAGE_CLOSE_PATH, body: {}, headers: bearer(token) })).status).toBe(200);
    expect((await call(token)).status).toBe(401);
    expect((await call(other)).status).toBe(200);
    await expect(
      (async () => {
        while ((await heard.next()).done !== true);
      })(),
    ).rejects.toThrow();
  });

  test("is shut out with all others by the server's own token", async () => {
    const tokens = [await freshToken(), await freshToken()];
    expect((await ask({ path: PAGE_CLOSE_PATH, body: {}, headers: bearer(server.token) })).status).toBe(200);
    for (const token of tokens) expect((await call(token)).status).toBe(401);
  });

  test("ends with the server", async () => {
    const token = await freshToken();
    const code = freshCode();
    await server.restart();
    expect((await call(token)).status).toBe(401);
    expect((await exchange(code)).status).toBe(403);
    expect((await call(server.token)).status).toBe(200);
  });
});
