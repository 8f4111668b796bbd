import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readdir, readFile, rename, stat, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { proveServer } from "@gennai/client/connection/prove-server";
import { takeServerToken } from "@gennai/server/http/guard/token";
import { type HttpServerOptions, listenHttp } from "@gennai/server/http/listen/http-server";
import { rpcRoutes } from "@gennai/server/http/route";
import { findServers, writeDiscovery } from "@gennai/server/http/routes/discovery";
import { healthRoute } from "@gennai/server/http/routes/health-route";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer } from "@gennai/testkit/test-server";
import { runTurn, startSession } from "../../../e2e/rpc/session-client.ts";
import { type Checks, check } from "../../corpus-case.ts";
import { envelope, exchange, grpcWeb } from "../../raw-wire.ts";
import { scriptOf } from "../../tool-call.ts";

const token = "t".repeat(43);
const rpc = "/gennai.agent.v1.AgentService/GetServerInfo";

interface RawRequest {
  readonly line?: string;
  readonly host?: string | undefined;
  readonly authorization?: string | undefined;
  readonly headers?: readonly string[];
  readonly body?: string;
}

function bytesOf(request: RawRequest): string {
  const {
    line = `POST ${rpc} HTTP/1.1`,
    body = "\0\0\0\0\0",
    headers = ["Content-Type: application/grpc-web+proto"],
  } = request;
  const host = "host" in request ? request.host : "HOST";
  const authorization = "authorization" in request ? request.authorization : `Bearer ${token}`;
  return [
    line,
    ...(host === undefined ? [] : [`Host: ${host}`]),
    ...(authorization === undefined ? [] : [`Authorization: ${authorization}`]),
    ...headers,
    `Content-Length: ${body.length}`,
    "Connection: close",
    "",
    body,
  ].join("\r\n");
}

/** Each of these requests to a whole server is answered with that status, and the answer lets no page in. */
const answers = (status: number | readonly number[], ...requests: readonly RawRequest[]) =>
  check(async () => {
    await using server = await startTestServer();
    for (const request of requests) {
      const answer = await exchange(server, bytesOf(request));
      assert.ok([status].flat().includes(answer.status), `${JSON.stringify(request)} was answered ${answer.status}`);
      assert.ok(!/^access-control-allow/im.test(answer.text));
      assert.ok(!answer.text.includes(token));
    }
    assert.equal((await exchange(server, bytesOf({}))).status, 200);
  });

const grpc = "Content-Type: application/grpc-web+proto";
const origin = (value: string): RawRequest => ({ headers: [grpc, `Origin: ${value}`] });
const preflight = (...headers: readonly string[]): RawRequest => ({
  line: `OPTIONS ${rpc} HTTP/1.1`,
  authorization: undefined,
  body: "",
  headers: ["Origin: https://evil.example", "Access-Control-Request-Method: POST", ...headers],
});

/** A peer that sends a byte now and then is cut off. */
async function slow(bytes: (index: number) => string): Promise<void> {
  const options: HttpServerOptions = {
    address: { type: "tcp", host: "127.0.0.1", port: 0 },
    token,
    routes: () => new Map([...rpcRoutes([rpc], () => undefined), ["/health", healthRoute(() => ({}))]]),
    timeouts: { headers: 200, request: 300 },
  };
  await using listener = await listenHttp(options);
  const { connect } = await import("node:net");
  const socket = connect(listener.port ?? 0, "127.0.0.1");
  socket.setEncoding("latin1").on("error", () => undefined);
  let index = 0;
  const drip = setInterval(() => socket.write(bytes(index++).replaceAll("HOST", `127.0.0.1:${listener.port}`)), 50);
  try {
    let answer = "";
    for await (const chunk of socket) answer += String(chunk);
    assert.match(answer, /^HTTP\/1\.1 408 /);
  } finally {
    clearInterval(drip);
  }
}

/** An impostor on the server's port that gives the wanted answers, and records what it receives. */
async function impostor(
  answer: string,
): Promise<{ readonly server: Server; readonly url: string; readonly heard: () => string }> {
  let heard = "";
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      heard += chunk.toString("latin1");
      socket.end(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${answer.length}\r\nConnection: close\r\n\r\n${answer}`,
      );
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  return { server, url: `http://127.0.0.1:${address.port}`, heard: () => heard };
}

async function refusesImpostor(): Promise<void> {
  for (const answer of [
    "{}",
    '{"proof":"AAAA"}',
    "no json",
    JSON.stringify({ proof: Buffer.alloc(32).toString("base64url") }),
  ]) {
    const fake = await impostor(answer);
    try {
      assert.notEqual((await proveServer(fake.url, token)).type, "proven");
      assert.ok(fake.heard().includes("/challenge") && !fake.heard().includes(token));
    } finally {
      fake.server.close();
    }
  }
  await using real = await startTestServer();
  assert.deepEqual(await proveServer(real.url, real.token), { type: "proven" });
}

export const protocolHttpChecks: Checks = {
  "HTP-001": answers(
    401,
    { authorization: undefined },
    { line: "GET /health HTTP/1.1", authorization: undefined, body: "" },
    { line: "GET /none HTTP/1.1", authorization: undefined, body: "" },
  ),
  "HTP-002": check(async () => {
    await using server = await startTestServer();
    const wrong = ["x", token.slice(0, -1), `${token}x`, token.toUpperCase()];
    const texts = await Promise.all(
      wrong.map(async (each) => (await exchange(server, bytesOf({ authorization: `Bearer ${each}` }))).text),
    );
    const withoutDate = texts.map((text) => text.replace(/^Date: .*$/im, ""));
    assert.equal(new Set(withoutDate).size, 1);
    assert.match(texts[0] ?? "", /^HTTP\/1\.1 401 /);
  }),
  "HTP-004": answers(
    401,
    { authorization: `Basic ${Buffer.from(`a:${token}`).toString("base64")}` },
    { authorization: token },
  ),
  "HTP-006": answers(
    400,
    { headers: [grpc, "Authorization: Bearer x"] },
    { headers: [grpc, `Authorization: Bearer ${token}`] },
  ),
  "HTP-007": answers(403, origin("https://evil.example")),
  "HTP-008": answers(403, origin("null")),
  "HTP-011": answers(403, origin("http://localhost.evil.example")),
  "HTP-012": answers(403, origin("http://127.0.0.1.evil.example")),
  "HTP-013": answers(403, origin("http://127.evil.com")),
  "HTP-017": answers(400, { host: "127.0.0.1:7777@evil" }, { host: "HOST@evil" }),
  "HTP-019": answers(400, { line: "GET /health HTTP/1.0", host: undefined, body: "" }),
  "HTP-020": answers(421, { host: "evil.example", headers: [grpc, "X-Forwarded-Host: HOST", "Forwarded: host=HOST"] }),
  "HTP-021": answers(415, { headers: ["Content-Type: text/plain"], body: "{}" }, { headers: [], body: "{}" }),
  "HTP-025": answers([415, 200], { headers: ["Content-Type: application/grpc-web-text"] }),
  "HTP-026": answers(
    415,
    { headers: ["Content-Type: application/grpc"] },
    { headers: ["Content-Type: application/grpc+proto"] },
  ),
  "HTP-027": answers(403, preflight()),
  "HTP-028": answers(403, preflight("Access-Control-Request-Private-Network: true"), {
    headers: [grpc, "Access-Control-Request-Private-Network: true"],
  }),
  "HTP-030": check(async () => {
    await using server = await startTestServer();
    const overridden = await exchange(
      server,
      bytesOf({ headers: [grpc, "X-HTTP-Method-Override: DELETE", "X-Method-Override: GET"] }),
    );
    assert.equal(overridden.status, 200);
    const get = await exchange(
      server,
      bytesOf({ line: `GET ${rpc} HTTP/1.1`, headers: ["X-HTTP-Method-Override: POST"], body: "" }),
    );
    assert.equal(get.status, 405);
  }),
  "HTP-032": answers(
    400,
    { headers: [grpc, "X-A: b\r\n c"] },
    { headers: [grpc, "X-A: b\nX-B: c"] },
    { headers: [grpc, "X-A: b\0c"] },
  ),
  "HTP-033": answers(431, { headers: [grpc, `X-A: ${"a".repeat(64 * 1024)}`] }),
  "HTP-035": answers(
    404,
    ...[
      `/../${rpc.slice(1)}`,
      `/${rpc}`,
      rpc.replace(".", "%2e"),
      rpc.toLowerCase(),
      `${rpc}/`,
      `${rpc}?x=1`,
      `/x/%2e%2e${rpc}`,
    ].map((path) => ({
      line: `POST ${path} HTTP/1.1`,
    })),
  ),
  "HTP-036": answers(404, { line: "POST /gennai.agent.v1.AgentService/Nope HTTP/1.1" }),
  "HTP-037": check(() =>
    slow(
      (index) => "GET /health HTTP/1.1\r\nHost: HOST\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"[index] ?? "a",
    ),
  ),
  "HTP-038": check(() =>
    slow((index) =>
      index === 0
        ? `POST ${rpc} HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer ${token}\r\n${grpc}\r\nContent-Length: 1000\r\n\r\n`
        : "a",
    ),
  ),
  "HTP-042": check(refusesImpostor),
  "HTP-043": check(refusesImpostor),
  "HTP-044": check(async () => {
    await using state = await temporaryDirectory();
    const record = {
      url: "http://127.0.0.1:7001",
      token,
      pid: process.pid,
      version: "1",
      workspace: "/x",
      startedAt: 1,
    };
    await using _announced = await writeDiscovery(state.root, record);
    const file = state.path("servers/7001.json");
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal((await findServers(state.root)).servers.length, 1);
    await chmod(file, 0o644);
    assert.deepEqual((await findServers(state.root)).servers, []);
    await chmod(file, 0o600);
    await rename(file, state.path("elsewhere.json"));
    await symlink(state.path("elsewhere.json"), file);
    assert.deepEqual((await findServers(state.root)).servers, []);
    await using other = await temporaryDirectory();
    await mkdir(other.path("servers"), { mode: 0o777 });
    await chmod(other.path("servers"), 0o777);
    await writeFile(other.path("servers/7001.json"), JSON.stringify(record), { mode: 0o600 });
    assert.deepEqual((await findServers(other.root)).servers, []);
  }),
  "HTP-045": check(async () => {
    await using directory = await temporaryDirectory();
    const tokenFile = directory.path("open/token");
    await mkdir(directory.path("open"));
    await writeFile(tokenFile, token, { mode: 0o600 });
    const read = () => takeServerToken({ environment: {}, tokenFile });
    await chmod(directory.path("open"), 0o777);
    await assert.rejects(read);
    await chmod(directory.path("open"), 0o700);
    assert.equal((await read()).type, "token");
    await chmod(tokenFile, 0o644);
    await assert.rejects(read);
  }),
  "HTP-047": check(async () => {
    // Unlike any placeholder, so that whatever finds it has found this one.
    const own = "Zq7-vX2_kP9sLm4TbR8nWc1YdG5hJf3EoA6uViKxQpB";
    const read = [
      { tool: "Read", args: { file_path: "notes.txt" } },
      { tool: "Bash", args: { command: "cat notes.txt" } },
      { tool: "Grep", args: { pattern: "is", output_mode: "content" } },
    ];
    await using server = await startTestServer({ script: [scriptOf(read)], server: { token: own, announce: true } });
    await server.workspace.write("notes.txt", `The token is ${own}.\n`);
    const sessionId = await startSession(server);
    await runTurn(server, sessionId, `My token is ${own}`);
    await exchange(server, bytesOf({ authorization: "Bearer wrong" }));
    assert.ok(!readFileOf(`/proc/${process.pid}/cmdline`).includes(own));
    for (const warning of server.warnings) assert.ok(!warning.includes(own));
    await server.running[Symbol.asyncDispose]();
    for (const root of [server.stateDir, server.workspace.root]) {
      for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name);
        // The discovery file is where it belongs, and it goes with the server.
        if (!entry.isFile() || entry.name === "notes.txt") continue;
        assert.ok(!(await readFile(path)).includes(own), `the token is in ${path}`);
      }
    }
  }),
  "HTP-048": answers(
    [404, 405],
    { line: "TRACE / HTTP/1.1", body: "" },
    { line: "GET /debug/pprof HTTP/1.1", body: "" },
    { line: "GET /metrics HTTP/1.1", body: "" },
  ),
  "HTP-050": check(async () => {
    await using server = await startTestServer();
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    const before = process.memoryUsage().rss;
    const framed = await grpcWeb(server, "GetTodos", envelope(bomb, 1), { "grpc-encoding": "gzip" });
    // Nothing is inflated at all: no compression is accepted.
    assert.ok(["resource_exhausted", "unimplemented", "internal"].includes(framed.code), framed.code);
    const whole = await grpcWeb(server, "GetTodos", gzipSync(envelope(Buffer.alloc(64 * 1024 * 1024))), {
      "Content-Encoding": "gzip",
    });
    assert.equal(whole.status, 415);
    assert.ok(process.memoryUsage().rss - before < 300 * 1024 * 1024);
    assert.equal((await exchange(server, bytesOf({}))).status, 200);
  }),
};

function readFileOf(path: string): string {
  return spawnSync("cat", [path]).stdout.toString();
}
