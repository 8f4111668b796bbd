import { oneUser } from "@gennai/sessions/session/identity";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type GuardPolicy, guardRequest, ownHosts } from "#http/request-guard";
import { type Route, rpcRoutes } from "#http/route";
import { createToken, digestToken } from "#http/token";

const RPC = "/gennai.agent.v1.AgentService/StartTurn";
const TOKEN = createToken();
const PAGE = "https://app.example";
const PRIVATE_NETWORK = "Access-Control-Request-Private-Network";

const handle = (): void => undefined;
const health: Route = { method: "GET", mediaTypes: new Set(), authentication: "token", handle };
const challenge: Route = { method: "POST", mediaTypes: new Set(["application/json"]), authentication: "none", handle };
const policy: GuardPolicy = {
  hosts: ownHosts({ host: "127.0.0.1", port: 7777 }, ["Box.lan:7777"]),
  origins: new Set([PAGE]),
  token: digestToken(TOKEN),
  routes: new Map([...rpcRoutes([RPC], handle), ["/health", health], ["/challenge", challenge]]),
};

interface Sent {
  readonly method?: string;
  readonly target?: string;
  /** Replaces headers of a good request by name; undefined leaves one out, a list sends it several times. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly policy?: Partial<GuardPolicy>;
}

function send(sent: Sent) {
  const headers = {
    Host: "127.0.0.1:7777",
    Authorization: `Bearer ${TOKEN}`,
    "Content-Type": "application/grpc-web+proto",
    ...sent.headers,
  };
  const rawHeaders = Object.entries(headers).flatMap(([name, values]) =>
    [values ?? []].flat().flatMap((value) => [name, value]),
  );
  return guardRequest(
    { method: sent.method ?? "POST", target: sent.target ?? RPC, rawHeaders },
    { ...policy, ...sent.policy },
  );
}

/** `pass`, `preflight` or the status. */
async function outcome(sent: Sent): Promise<string | number> {
  const result = await send(sent);
  return result.type === "refuse" ? result.error.status : result.type;
}

test.each<[string, Sent]>([
  ["gRPC-Web", {}],
  ["gRPC-Web without a format", { headers: { "Content-Type": "application/grpc-web" } }],
  ["gRPC-Web JSON", { headers: { "Content-Type": "application/grpc-web+json; charset=utf-8" } }],
  ["Connect unary", { headers: { "Content-Type": "application/proto" } }],
  ["Connect JSON", { headers: { "Content-Type": "Application/JSON" } }],
  ["Connect stream", { headers: { "Content-Type": "application/connect+proto" } }],
  ["localhost", { headers: { Host: "LocalHost:7777" } }],
  ["IPv6 loopback", { headers: { Host: "[::1]:7777" } }],
  ["a configured host", { headers: { Host: "box.lan:7777" } }],
  ["the page this server serves", { headers: { Origin: "http://127.0.0.1:7777" } }],
  ["a configured origin", { headers: { Origin: PAGE } }],
  ["a body said to be identity", { headers: { "Content-Encoding": "identity" } }],
  ["the scheme in lower case", { headers: { Authorization: `bearer ${TOKEN}` } }],
  ["health", { method: "GET", target: "/health", headers: { "Content-Type": undefined } }],
  [
    "the challenge without a token",
    { target: "/challenge", headers: { Authorization: undefined, "Content-Type": "application/json" } },
  ],
  [
    "the challenge with a wrong token",
    { target: "/challenge", headers: { Authorization: "Bearer x", "Content-Type": "application/json" } },
  ],
  ["no token when authentication is off", { headers: { Authorization: undefined }, policy: { token: undefined } }],
  ["a method override, ignored", { headers: { "X-HTTP-Method-Override": "DELETE", "X-Method-Override": "GET" } }],
  ["forwarding headers, ignored", { headers: { "X-Forwarded-Host": "evil.example", Forwarded: "host=evil.example" } }],
])("what passes: %s", async (_name, sent) => {
  expect(await outcome(sent)).toBe("pass");
});

describe("the token of a page", () => {
  const PAGE_TOKEN = createToken();
  const own = {
    Authorization: `Bearer ${PAGE_TOKEN}`,
    Origin: "http://127.0.0.1:7777",
    "Sec-Fetch-Site": "same-origin",
  };
  const grant = { identity: oneUser, follow: () => undefined, revoke: () => undefined };
  const pages = { accept: (token: string) => (token === PAGE_TOKEN ? grant : undefined) };
  const serverOnly: Route = { ...challenge, authentication: "server-token" };
  const withPages = { pages, routes: new Map([...policy.routes, ["/page/code", serverOnly]]) };
  const json = { "Content-Type": "application/json" };

  test("passes and is known for a page's", async () => {
    expect(await send({ headers: own, policy: withPages })).toMatchObject({ type: "pass", page: grant });
    expect(await send({ policy: withPages })).toMatchObject({ type: "pass", page: undefined });
  });

  test.each<[string, string | number, Sent]>([
    ["where the browser says no more than the origin", "pass", { headers: { ...own, "Sec-Fetch-Site": undefined } }],
    ["without an origin", 401, { headers: { ...own, Origin: undefined } }],
    ["from an origin the user let in", 401, { headers: { ...own, Origin: PAGE } }],
    ["from another origin", 403, { headers: { ...own, Origin: "https://evil.example" } }],
    ["from another name of this server", 403, { headers: { ...own, Origin: "http://localhost:7777" } }],
    ["from another site", 401, { headers: { ...own, "Sec-Fetch-Site": "cross-site" } }],
    ["from two sites", 400, { headers: { ...own, "Sec-Fetch-Site": ["same-origin", "cross-site"] } }],
    ["for another host", 421, { headers: { ...own, Host: "evil.example", Origin: "http://evil.example" } }],
    ["of no page", 401, { headers: { ...own, Authorization: `Bearer ${createToken()}` } }],
    ["where the server's own is asked for", 401, { target: "/page/code", headers: { ...own, ...json } }],
  ])("%s", async (_name, wanted, sent) => {
    expect(await outcome({ ...sent, policy: withPages })).toBe(wanted);
  });

  test("the server's own token opens what is its own", async () => {
    expect(await outcome({ target: "/page/code", headers: json, policy: withPages })).toBe("pass");
  });
});

test.each<[string, number, Sent]>([
  ["no Host", 400, { headers: { Host: undefined } }],
  ["an empty Host", 400, { headers: { Host: "" } }],
  ["user info in Host", 400, { headers: { Host: "127.0.0.1:7777@evil.example" } }],
  ["a path in Host", 400, { headers: { Host: "127.0.0.1:7777/x" } }],
  ["two hosts in one", 400, { headers: { Host: "127.0.0.1:7777, evil.example" } }],
  ["two Host headers", 400, { headers: { Host: ["127.0.0.1:7777", "evil.example"] } }],
  ["the same Host twice", 400, { headers: { Host: ["127.0.0.1:7777", "127.0.0.1:7777"] } }],
  ["two tokens", 400, { headers: { Authorization: [`Bearer ${TOKEN}`, "Bearer other"] } }],
  ["two origins", 400, { headers: { Origin: [PAGE, "https://evil.example"] } }],
  ["two content types", 400, { headers: { "Content-Type": ["application/json", "text/plain"] } }],
  ["malformed before unauthenticated", 400, { headers: { Host: undefined, Authorization: undefined } }],

  ["another host", 421, { headers: { Host: "evil.example:7777" } }],
  [
    "another host, forwarded as this one",
    421,
    { headers: { Host: "evil.example", "X-Forwarded-Host": "127.0.0.1:7777" } },
  ],
  ["no port", 421, { headers: { Host: "127.0.0.1" } }],
  ["another port", 421, { headers: { Host: "127.0.0.1:7778" } }],
  ["a port written otherwise", 421, { headers: { Host: "127.0.0.1:07777" } }],
  ["loopback written otherwise", 421, { headers: { Host: "127.1:7777" } }],
  ["loopback as a number", 421, { headers: { Host: "2130706433:7777" } }],
  ["a trailing dot", 421, { headers: { Host: "localhost.:7777" } }],
  ["a suffix", 421, { headers: { Host: "localhost.evil.example:7777" } }],
  ["a wildcard address", 421, { headers: { Host: "0.0.0.0:7777" } }],
  ["an absolute form for another host", 421, { target: `http://evil.example${RPC}` }],
  ["an absolute form with user info", 421, { target: `http://127.0.0.1:7777@evil.example${RPC}` }],
  [
    "host before origin and token",
    421,
    { headers: { Host: "evil.example", Origin: "null", Authorization: undefined } },
  ],

  ["a foreign origin with a good token", 403, { headers: { Origin: "https://evil.example" } }],
  ["a null origin", 403, { headers: { Origin: "null" } }],
  ["an empty origin", 403, { headers: { Origin: "" } }],
  ["localhost as a prefix", 403, { headers: { Origin: "http://localhost.evil.example" } }],
  ["loopback as a prefix", 403, { headers: { Origin: "http://127.0.0.1.evil.example" } }],
  ["127 as a prefix", 403, { headers: { Origin: "http://127.evil.example" } }],
  ["own name, other port", 403, { headers: { Origin: "http://127.0.0.1:8080" } }],
  ["own name, no port", 403, { headers: { Origin: "http://127.0.0.1" } }],
  ["own name, other scheme", 403, { headers: { Origin: "https://127.0.0.1:7777" } }],
  ["another name of this server", 403, { headers: { Origin: "http://localhost:7777" } }],
  ["user info in the origin", 403, { headers: { Origin: "http://127.0.0.1:7777@evil.example" } }],
  ["an editor's webview", 403, { headers: { Origin: "vscode-webview://abc" } }],
  ["an extension", 403, { headers: { Origin: "chrome-extension://abc" } }],
  ["an allowed origin with a path", 403, { headers: { Origin: `${PAGE}/` } }],
  [
    "a foreign preflight",
    403,
    { method: "OPTIONS", headers: { Origin: "https://evil.example", "Access-Control-Request-Method": "POST" } },
  ],
  [
    "private network access",
    403,
    {
      method: "OPTIONS",
      headers: { Origin: PAGE, "Access-Control-Request-Method": "POST", [PRIVATE_NETWORK]: "true" },
    },
  ],
  ["origin before token", 403, { headers: { Origin: "null", Authorization: undefined } }],
  ["a foreign origin when authentication is off", 403, { headers: { Origin: "null" }, policy: { token: undefined } }],
  ["a foreign origin at the challenge", 403, { target: "/challenge", headers: { Origin: "null" } }],

  ["no token", 401, { headers: { Authorization: undefined } }],
  ["a wrong token", 401, { headers: { Authorization: `Bearer ${createToken()}` } }],
  ["the token's beginning", 401, { headers: { Authorization: `Bearer ${TOKEN.slice(0, -1)}` } }],
  ["the token and more", 401, { headers: { Authorization: `Bearer ${TOKEN}x` } }],
  ["two tokens in one", 401, { headers: { Authorization: `Bearer ${TOKEN}, Bearer x` } }],
  ["an empty token", 401, { headers: { Authorization: "Bearer " } }],
  ["Basic", 401, { headers: { Authorization: `Basic ${btoa(`gennai:${TOKEN}`)}` } }],
  ["a bare token", 401, { headers: { Authorization: TOKEN } }],
  ["the token in a cookie", 401, { headers: { Authorization: undefined, Cookie: `token=${TOKEN}` } }],
  ["the token in the URL", 401, { target: `${RPC}?token=${TOKEN}`, headers: { Authorization: undefined } }],
  ["health without a token", 401, { method: "GET", target: "/health", headers: { Authorization: undefined } }],
  ["an unknown path without a token", 401, { target: "/unknown", headers: { Authorization: undefined } }],
  ["a wrong method without a token", 401, { method: "DELETE", headers: { Authorization: undefined } }],
  ["OPTIONS that is no preflight", 401, { method: "OPTIONS", headers: { Authorization: undefined } }],
  ["a query does not make the challenge public", 401, { target: "/challenge?", headers: { Authorization: undefined } }],

  ["an unknown method of the service", 404, { target: "/gennai.agent.v1.AgentService/Nothing" }],
  ["another case", 404, { target: RPC.toLowerCase() }],
  ["a double slash", 404, { target: `/${RPC}` }],
  ["a parent step", 404, { target: `/x/..${RPC}` }],
  ["an encoded letter", 404, { target: RPC.replace("S", "%53") }],
  ["encoded dots", 404, { target: `/%2e%2e${RPC}` }],
  ["a trailing slash", 404, { target: `${RPC}/` }],
  ["a query", 404, { target: `${RPC}?connect=v1` }],
  ["a fragment", 404, { target: `${RPC}#x` }],
  ["an absolute form for this host", 404, { target: `http://127.0.0.1:7777${RPC}` }],
  ["OPTIONS *", 404, { method: "OPTIONS", target: "*" }],
  ["TRACE", 404, { method: "TRACE", target: "/" }],
  ["debug pages", 404, { method: "GET", target: "/debug/pprof" }],
  ["a name every object has", 404, { target: "constructor" }],

  ["GET on an RPC", 405, { method: "GET" }],
  ["TRACE on an RPC", 405, { method: "TRACE" }],
  ["DELETE on an RPC", 405, { method: "DELETE" }],
  ["POST on health", 405, { target: "/health" }],
  ["HEAD on health", 405, { method: "HEAD", target: "/health" }],
  ["a method in lower case", 405, { method: "post" }],

  ["text/plain, as a form can send it", 415, { headers: { "Content-Type": "text/plain" } }],
  ["text/plain with JSON as a parameter", 415, { headers: { "Content-Type": "text/plain; application/json" } }],
  ["a form", 415, { headers: { "Content-Type": "application/x-www-form-urlencoded" } }],
  ["gRPC over HTTP/1.1", 415, { headers: { "Content-Type": "application/grpc" } }],
  ["gRPC over HTTP/1.1 with format", 415, { headers: { "Content-Type": "application/grpc+proto" } }],
  ["gRPC-Web text", 415, { headers: { "Content-Type": "application/grpc-web-text" } }],
  ["gRPC-Web text with format", 415, { headers: { "Content-Type": "application/grpc-web-text+proto" } }],
  ["no content type", 415, { headers: { "Content-Type": undefined } }],
  ["two types in one", 415, { headers: { "Content-Type": "application/json, text/plain" } }],
  ["gzip", 415, { headers: { "Content-Encoding": "gzip" } }],
  ["identity and gzip", 415, { headers: { "Content-Encoding": "identity, gzip" } }],
])("what is refused: %s: %i", async (_name, status, sent) => {
  expect(await outcome(sent)).toBe(status);
});

describe("what an answer carries", () => {
  test("every 401 looks the same", async () => {
    const wrong = [undefined, "Bearer x", `Basic ${btoa("a:b")}`, "Bearer "];
    const answers = await Promise.all(wrong.map((value) => send({ headers: { Authorization: value } })));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ error: { code: "unauthenticated", headers: { "WWW-Authenticate": "Bearer" } } });
  });

  test("an allowed page learns what connect-web needs", async () => {
    const preflight = await send({
      method: "OPTIONS",
      headers: { Origin: PAGE, "Access-Control-Request-Method": "POST", Authorization: undefined },
    });
    expect(preflight).toMatchObject({
      type: "preflight",
      headers: { "Access-Control-Allow-Origin": PAGE, "Access-Control-Allow-Methods": "POST, GET", Vary: "Origin" },
    });
    if (preflight.type !== "preflight") return;
    const allowed = preflight.headers["Access-Control-Allow-Headers"]?.toLowerCase();
    for (const name of ["authorization", "content-type", "x-grpc-web", "grpc-timeout", "connect-protocol-version"]) {
      expect(allowed).toContain(name);
    }
    expect(preflight.headers).not.toHaveProperty("Access-Control-Allow-Credentials");

    const passed = await send({ headers: { Origin: PAGE } });
    expect(passed).toMatchObject({ headers: { "Access-Control-Allow-Origin": PAGE } });
    expect(JSON.stringify(passed)).toMatch(/grpc-status.*grpc-message/i);
  });

  test("an allowed page can read why it was refused", async () => {
    expect(await send({ headers: { Origin: PAGE, Authorization: undefined } })).toMatchObject({
      error: { status: 401, headers: { "Access-Control-Allow-Origin": PAGE } },
    });
  });

  test("nobody else gets a CORS header", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.webUrl(), fc.string(), fc.constantFrom("null", `${PAGE}.evil`, "http://127.0.0.1")),
        async (origin) => {
          fc.pre(origin !== PAGE && origin !== "http://127.0.0.1:7777");
          for (const method of ["OPTIONS", "POST", "GET"]) {
            const result = await send({ method, headers: { Origin: origin, "Access-Control-Request-Method": "POST" } });
            expect(result).toMatchObject({ type: "refuse", error: { status: 403 } });
            expect(JSON.stringify(result).toLowerCase()).not.toContain("access-control-allow");
          }
        },
      ),
    );
  });

  test("405 and 415 say what would do", async () => {
    expect(await send({ method: "GET" })).toMatchObject({ error: { headers: { Allow: "POST" } } });
    expect(await send({ target: "/challenge" })).toMatchObject({
      error: { headers: { "Accept-Post": "application/json" } },
    });
  });

  test("no refusal repeats what was sent", async () => {
    const secret = "s3cret-value";
    const everywhere = { Host: secret, Origin: secret, Authorization: `Bearer ${secret}`, "Content-Type": secret };
    for (const name of Object.keys(everywhere)) {
      expect(JSON.stringify(await send({ headers: { [name]: secret } }))).not.toContain(secret);
    }
    expect(JSON.stringify(await send({ target: `/${secret}` }))).not.toContain(secret);
  });
});

test("only exact routes pass: whatever the target", async () => {
  const parts = fc.constantFrom(
    RPC,
    "/health",
    "/",
    "//",
    "..",
    "/../",
    "%2e",
    "?",
    "#",
    "\\",
    ";",
    "http://127.0.0.1:7777",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(parts, fc.string()), { minLength: 1 }), async (pieces) => {
      const target = pieces.join("");
      fc.pre(!policy.routes.has(target));
      expect((await send({ target })).type).toBe("refuse");
    }),
  );
});

test.each<[string, Parameters<typeof ownHosts>, string[]]>([
  ["a port", [{ host: "127.0.0.1", port: 7777 }, []], ["localhost:7777", "127.0.0.1:7777", "[::1]:7777"]],
  [
    "port 80",
    [{ host: "127.0.0.1", port: 80 }, []],
    ["localhost:80", "localhost", "127.0.0.1:80", "127.0.0.1", "[::1]:80", "[::1]"],
  ],
  ["a unix socket", [undefined, []], ["localhost", "127.0.0.1", "[::1]"]],
  ["a wildcard", [{ host: "0.0.0.0", port: 1 }, ["Box.LAN"]], ["localhost:1", "127.0.0.1:1", "[::1]:1", "box.lan"]],
  ["an address", [{ host: "fd00::2", port: 1 }, []], ["localhost:1", "127.0.0.1:1", "[::1]:1", "[fd00::2]:1"]],
])("ownHosts: %s", async (_name, [listening, configured], wanted) => {
  expect([...ownHosts(listening, configured)]).toEqual(wanted);
});
