import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { type TLSSocket, connect as tlsConnect } from "node:tls";
import { makeTestCertificates } from "@gennai/testkit/test-certificates";
import { TestOutside } from "@gennai/testkit/test-outside";
import { expect, test } from "vitest";
import type { AddedLogin } from "#network/added-login";
import { AskedProxy } from "./asked-proxy.ts";

const secret = "npm_correcthorsebattery";
const host = "registry.example";

function loginFor(port: number, more: Partial<AddedLogin> = {}): AddedLogin {
  return {
    endpoint: { host, port },
    isTls: port === 443,
    login: "the login of a test",
    secrets: [secret],
    authorizationFor: (path) => (path.startsWith("/packages/") ? `Bearer ${secret}` : undefined),
    environment: {},
    trusted: [],
    ...more,
  };
}

interface Registry {
  readonly outside: TestOutside;
  /** What it was asked: method, path, headers and body. */
  readonly asked: readonly string[];
}

async function withRegistry(
  answer: RequestListener,
  run: (registry: Registry) => Promise<void>,
  tls?: { readonly cert: string; readonly key: string },
): Promise<void> {
  using outside = new TestOutside();
  const asked: string[] = [];
  const listener: RequestListener = async (request, response) => {
    asked.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)} ${await text(request)}`);
    answer(request, response);
  };
  const server: Server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  outside.host(host, tls === undefined ? 80 : 443, server);
  try {
    await run({ outside, asked });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const fine = (_request: IncomingMessage, response: { end(text: string): unknown }) => void response.end("a package");

const asking = (request: string, headers = "") =>
  `${request} HTTP/1.1\r\nHost: elsewhere.example\r\nConnection: close\r\n${headers}\r\n`;

test("what is read of packages has the login, and nothing that the run said of itself", async () => {
  await withRegistry(fine, async ({ outside, asked }) => {
    using proxy = await AskedProxy.open(outside, [{ host, port: 80, answer: "a yes" }], [loginFor(80)]);
    const own =
      "Authorization: Bearer own\r\nCookie: own\r\nX-HTTP-Method-Override: PUT\r\nProxy-Authorization: own\r\nAccept: a/b\r\nReferer: own\r\n";
    expect(await proxy.send(asking(`GET http://${host}/packages/dep`, own))).toContain("a package");
    expect(asked).toHaveLength(1);
    expect(JSON.parse(/\{.*\}/.exec(asked[0] ?? "")?.[0] ?? "")).toEqual({
      host,
      authorization: `Bearer ${secret}`,
      accept: "a/b",
      "accept-encoding": "identity",
    });
    expect(proxy.connections).toMatchObject([
      { host, port: 80, state: "allowed", login: "the login of a test", answer: "a yes", count: 1 },
    ]);
    expect(proxy.connections[0]?.received).toBeGreaterThan(0);
  });
});

const refused: readonly (readonly [name: string, request: string, headers?: string])[] = [
  ["a PUT", "PUT /packages/dep", "Content-Length: 0\r\n"],
  ["a POST", "POST /packages/dep", "Content-Length: 0\r\n"],
  ["a DELETE", "DELETE /packages/dep"],
  ["a method nobody knows", "PURGE /packages/dep"],
  ["a query", "GET /packages/dep?_method=PUT"],
  ["another path", "GET /-/npm/v1/tokens"],
  ["a way up", "GET /packages/../-/npm/v1/tokens"],
  ["an encoded way up", "GET /packages/%2e%2e/-/npm/v1/tokens"],
  ["a way up behind an encoded slash", "GET /packages/..%2f-/npm"],
  ["an encoded slash", "GET /packages/x%2fy"],
  ["an encoded backslash", "GET /packages/..%5c-"],
  ["a backslash", "GET /packages/..\\-"],
  ["two slashes", "GET /packages//-/user"],
  ["half an encoding", "GET /packages/%2"],
  ["the whole server", "OPTIONS *"],
];

test.each(refused)(
  "with a login, %s is refused, and stands in the record",
  async (_name, request = "", headers = "") => {
    await withRegistry(fine, async ({ outside, asked }) => {
      using proxy = await AskedProxy.open(outside, [{ host, port: 80 }], [loginFor(80)]);
      // As the run speaks where it knows no proxy, and where it does.
      const tunnel = `CONNECT ${host}:80 HTTP/1.1\r\nHost: x\r\n\r\n`;
      const answer = await proxy.send(`${tunnel}${asking(request, headers)}`);
      expect(answer.replace(/^.*established\r\n\r\n/s, "")).toMatch(/^(?:HTTP\/1\.1 403 |$)/);
      const [method, path] = request.split(" ");
      if (path?.startsWith("/")) await proxy.send(asking(`${method} http://${host}${path}`, headers));
      expect(asked).toEqual([]);
      expect(proxy.connections.filter(({ state }) => state !== "refused")).toEqual([]);
      expect(proxy.connections.map(({ state }) => state)).toContain("refused");
    });
  },
);

test("another protocol on the same way is no way", async () => {
  await withRegistry(fine, async ({ outside, asked }) => {
    using proxy = await AskedProxy.open(outside, [{ host, port: 80 }], [loginFor(80)]);
    const tunnel = `CONNECT ${host}:80 HTTP/1.1\r\nHost: x\r\n\r\n`;
    expect(await proxy.send(`${tunnel}SSH-2.0-x\r\n\r\n`)).not.toContain("package");
    await proxy.send(`${tunnel}CONNECT ${host}:80 HTTP/1.1\r\nHost: x\r\n\r\n`);
    await proxy.send(
      `${tunnel}GET /packages/dep HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`,
    );
    expect(asked.filter((one) => /upgrade/i.test(one))).toEqual([]);
  });
});

const base64 = Buffer.from(secret).toString("base64");
const answers: readonly (readonly [
  name: string,
  headers: Readonly<Record<string, string>>,
  body: readonly string[],
])[] = [
  ["in its body", {}, [`you are ${secret}`]],
  ["in two parts", {}, [`you are ${secret.slice(0, 9)}`, secret.slice(9)]],
  ["byte by byte", {}, ["x", ...secret]],
  ["in another form", {}, [`{"auth":"${base64}"}`]],
  ["in hexadecimal", {}, [Buffer.from(secret).toString("hex")]],
  ["in a header", { "X-You-Are": secret }, ["ok"]],
  ["in a redirect", { Location: `http://elsewhere.example/?token=${secret}` }, ["ok"]],
  ["packed", { "Content-Encoding": "gzip" }, ["ok"]],
];

test.each(answers)("an answer that says the login %s does not reach the run", async (_name, headers, body) => {
  await withRegistry(
    async (_request, response) => {
      response.writeHead(headers["Location"] === undefined ? 200 : 302, headers);
      for (const part of body) {
        response.write(part);
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    },
    async ({ outside }) => {
      using proxy = await AskedProxy.open(outside, [{ host, port: 80 }], [loginFor(80)]);
      const answer = await proxy.send(asking(`GET http://${host}/packages/dep`));
      expect(answer).not.toContain(secret);
      expect(answer).not.toContain(base64);
      expect(answer).not.toMatch(/correct|ok$/);
      expect(proxy.connections.map(({ state }) => state).toSorted()).toEqual(["allowed", "refused"]);
    },
  );
});

test("a session of the login's is not given on; a large archive is, whole", async () => {
  const large = "archive".repeat(400_000);
  await withRegistry(
    (_request, response) => {
      response
        .writeHead(200, { "Set-Cookie": "session=of-the-login", "X-Fine": "yes", "Content-Length": large.length })
        .end(large);
    },
    async ({ outside }) => {
      using proxy = await AskedProxy.open(outside, [{ host, port: 80 }], [loginFor(80)]);
      const answer = await proxy.send(asking(`GET http://${host}/packages/dep`));
      expect(answer).toContain("X-Fine: yes");
      expect(answer).not.toContain("session");
      expect(answer.endsWith(large)).toBe(true);
    },
  );
});

/** Speaks TLS with whom it takes for the host. */
async function overTls(port: number, ca: string): Promise<TLSSocket> {
  const way: Socket = connect(port, "127.0.0.1");
  way.write(`CONNECT ${host}:443 HTTP/1.1\r\nHost: x\r\n\r\n`);
  await once(way, "data");
  const socket = tlsConnect({ socket: way, servername: host, ca: [ca] });
  await once(socket, "secureConnect");
  return socket;
}

test("over TLS: certified for this host by an authority of the run, and only where the registry itself is believed", async () => {
  await using certificates = await makeTestCertificates(["DNS:registry.example"]);
  const { cert, key } = await certificates.issue("server");
  const tls = { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
  await withRegistry(
    fine,
    async ({ outside, asked }) => {
      const allowed = [{ host, port: 443 }];
      using proxy = await AskedProxy.open(outside, allowed, [loginFor(443, { trusted: [certificates.ca] })]);
      const socket = await overTls(proxy.port, proxy.authority);
      const { subjectaltname, issuerCertificate } = socket.getPeerCertificate(true);
      expect(subjectaltname).toBe(`DNS:${host}`);
      expect(issuerCertificate.subject.CN).toContain("for one run");
      socket.write(asking("GET /packages/dep"));
      expect(await text(socket)).toContain("a package");
      expect(asked[0]).toContain(`Bearer ${secret}`);
      // Anyone who is not on the list of that authority, nor on anybody's.
      await expect(overTls(proxy.port, certificates.ca)).rejects.toThrow();

      // Nobody vouches for the registry: it is not asked, so that the login stays here.
      using other = await AskedProxy.open(outside, allowed, [loginFor(443)]);
      expect(other.authority).not.toBe(proxy.authority);
      const second = await overTls(other.port, other.authority);
      second.write(asking("GET /packages/dep"));
      expect(await text(second)).toContain("502 Bad Gateway");
      expect(asked).toHaveLength(1);
    },
    tls,
  );
});
