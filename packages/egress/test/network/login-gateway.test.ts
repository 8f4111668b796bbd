import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { type TLSSocket, connect as tlsConnect } from "node:tls";
import { makeTestCertificates } from "@gennai/testkit/test-certificates";
import { describe, expect, test } from "vitest";
import {
  type AddedLogin,
  type BodyReader,
  type HeldRequest,
  pretended,
  type RequestMeaning,
} from "#network/added-login";
import { maxHeld } from "#network/held-body";
import { AskedProxy } from "./asked-proxy.ts";
import { asking, fine, host, loginFor, placeholder, secret, withRegistry } from "./gateway-fixture.ts";

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
  ["a way up with a parameter", "GET /packages/..;/-/npm/v1/tokens"],
  ["a way up with a parameter that says something", "GET /packages/..;x=y/-/npm/v1/tokens"],
  ["a way up with a blank behind it", "GET /packages/..%20/-/npm/v1/tokens"],
  ["a way up in a longer form of UTF-8", "GET /packages/%c0%ae%c0%ae/-/npm/v1/tokens"],
  ["an encoded parameter", "GET /packages/..%3b/-/npm/v1/tokens"],
  ["a backslash", "GET /packages/..\\-"],
  ["two slashes", "GET //-/user"],
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

/** A request with a body, as the run sends it. */
const sending = (path: string, body: string, headers = `Authorization: Bearer ${placeholder}\r\n`): string =>
  asking(`POST http://${host}${path}`, `${headers}Content-Length: ${Buffer.byteLength(body)}\r\n`) + body;
const basicOf = (pair: string): string => `Authorization: Basic ${Buffer.from(pair).toString("base64")}\r\n`;

test("the login is put in the place of the placeholder only; without that, a request goes on without login", async () => {
  await withRegistry(fine, async ({ outside, asked }) => {
    using proxy = await AskedProxy.open(outside, [{ host, port: 80 }], [loginFor(80)]);
    const said = async (headers: string): Promise<string | undefined> => {
      await proxy.send(asking(`GET http://${host}/public`, headers));
      return /"authorization":"([^"]*)"/.exec(asked.at(-1) ?? "")?.[1];
    };
    const added = `Bearer ${secret}`;
    expect(await said(`Authorization: Bearer ${placeholder}\r\n`)).toBe(added);
    expect(await said(`Authorization: token ${placeholder}\r\n`)).toBe(added);
    expect(await said(`Authorization: ${placeholder}\r\n`)).toBe(added);
    expect(await said(basicOf(`x:${placeholder}`))).toBe(added);
    expect(await said("")).toBeUndefined();
    expect(await said(basicOf("me:own-password"))).toBeUndefined();
    expect(await said("Authorization: Bearer own\r\n")).toBeUndefined();
    expect(asked).toHaveLength(7);
    // Two of them: a host could read either.
    await proxy.send(
      asking(`GET http://${host}/public`, `Authorization: Bearer ${placeholder}\r\nAuthorization: Bearer own\r\n`),
    );
    expect(asked).toHaveLength(7);
  });
});

test("several slashes are sent as the one as which they were judged", async () => {
  await withRegistry(fine, async ({ outside, asked }) => {
    using proxy = await AskedProxy.open(outside, [{ host, port: 80 }], [loginFor(80)]);
    await proxy.send(asking(`GET http://${host}//packages///dep`));
    expect(asked.map((line) => line.split(" ")[1])).toEqual(["/packages/dep"]);
  });
});

test("a document is read beside a body that is compared with it; a rehearsal sends nothing, and tells what it would", async () => {
  const read: BodyReader["read"] = (bytes) => ({
    type: "compares",
    path: "/packages/dep?write=true",
    read: (there) => ({ type: "writes", what: `say ${String(bytes)} in place of ${String(there)}` }),
  });
  const use: AddedLogin["use"] = ({ method }) => ({
    authorization: `Bearer ${secret}`,
    ...(method === "PUT" && { body: { most: 1000, read } }),
  });
  await withRegistry(fine, async ({ outside, asked }) => {
    const held: HeldRequest[] = [];
    const ask = (one: HeldRequest) => {
      held.push(one);
      return Promise.resolve(one.what.includes("undefined") ? "Not yet." : undefined);
    };
    const put = asking(
      `PUT http://${host}/packages/dep`,
      `Authorization: Bearer ${placeholder}\r\nContent-Length: 3\r\n`,
    );
    using proxy = await AskedProxy.open(outside, [{ host, port: 80 }], [loginFor(80, { use })], ask);
    expect(await proxy.send(`${put}new`)).toContain(" 200 ");
    expect(asked.map((line) => line.split(" ").slice(0, 2).join(" "))).toEqual([
      "GET /packages/dep?write=true",
      "PUT /packages/dep",
    ]);
    const rehearses = (path: string) => (path === "/packages/config" ? "known" : undefined);
    using rehearsal = await AskedProxy.open(outside, [], [loginFor(80, { use, rehearses })], ask);
    expect(await rehearsal.send(`${put}new`)).toMatch(/ 403 [^]*Not yet/);
    expect(await rehearsal.send(asking(`GET http://${host}/packages/dep`))).toContain(" 404 ");
    expect(await rehearsal.send(asking(`GET http://${host}/packages/config`))).toMatch(/ 200 [^]*known/);
    const kept = asking(`GET http://${host}/packages/dep`, "If-None-Match: x\r\n");
    expect(await rehearsal.send(kept)).toContain(" 304 ");
    expect(asked).toHaveLength(2);
    expect(rehearsal.connections).toMatchObject([
      { host, state: "refused", count: 1 },
      { host, state: "refused", count: 3 },
    ]);
    expect(held.map(({ what }) => what)).toEqual(["say new in place of a package", "say new in place of undefined"]);
  });
});

test.each<[name: string, answer: RequestListener, said: string]>([
  ["none there", (_request, response) => void response.writeHead(404).end(), "say undefined"],
  ["gone", (_request, response) => void response.writeHead(410).end(), "say undefined"],
  ["another login wanted", (_request, response) => void response.writeHead(401).end(), "the host answered 401"],
  ["a failure", (_request, response) => void response.writeHead(503).end(), "the host answered 503"],
  ["elsewhere", (_request, response) => void response.writeHead(302, { Location: "/x" }).end(), "answered 302"],
  ["no answer", ({ socket }) => void socket.destroy(), "the connection to the host failed"],
  ["half an answer", (_request, response) => void response.write("a", () => response.destroy()), "connection to the"],
  ["too much", (_request, response) => void response.end(Buffer.alloc(maxHeld + 1)), "it is too long"],
])("nothing is taken for no document but that: %s", async (_name, answer, said) => {
  const read: BodyReader["read"] = () => ({
    type: "compares",
    path: "/packages/dep",
    read: (there) => ({ type: "refused", why: `say ${String(there)}` }),
  });
  const use: AddedLogin["use"] = () => ({ authorization: `Bearer ${secret}`, body: { most: 1000, read } });
  await withRegistry(answer, async ({ outside, asked }) => {
    using proxy = await AskedProxy.open(outside, [{ host, port: 80 }], [loginFor(80, { use })]);
    expect(await proxy.send(sending("/packages/dep", "new"))).toContain(said);
    expect(asked.map((line) => line.split(" ")[0])).toEqual(["GET"]);
  });
});

test("what is read after a question goes on without a body", async () => {
  const use: AddedLogin["use"] = ({ path }) => ({
    authorization: `Bearer ${secret}`,
    body: { most: 0, read: () => ({ type: "writes", what: `read ${path}` }) },
  });
  await withRegistry(fine, async ({ outside, asked }) => {
    const ask = ({ what }: HeldRequest) => Promise.resolve(what === "read /packages/dep" ? undefined : "No.");
    using proxy = await AskedProxy.open(outside, [{ host, port: 80 }], [loginFor(80, { use })], ask);
    const login = `Authorization: Bearer ${placeholder}\r\n`;
    expect(await proxy.send(asking(`GET http://${host}/packages/other`, login))).toContain(" 403 ");
    expect(await proxy.send(asking(`GET http://${host}/packages/dep`, login))).toContain(" 200 ");
    expect(asked).toHaveLength(1);
    expect(asked[0]).not.toMatch(/content-length|transfer-encoding/i);
  });
});

describe("what would change something", () => {
  test("waits for a yes to exactly that, and nothing is sent before; each time anew", async () => {
    await withRegistry(fine, async ({ outside, asked }) => {
      const held: HeldRequest[] = [];
      const answers = [undefined, "A person said no.", undefined];
      const ask = (request: HeldRequest) => {
        held.push(request);
        expect(asked).toHaveLength(held.length === 3 ? 1 : held.length - 1);
        return Promise.resolve(answers[held.length - 1]);
      };
      using proxy = await AskedProxy.open(outside, [{ host, port: 80 }], [loginFor(80)], ask);
      expect(await proxy.send(sending("/early", "hello\nand more"))).toContain("a package");
      expect(await proxy.send(sending("/early", "hello\nand more"))).toContain("A person said no.");
      expect(await proxy.send(sending("/whole", "x".repeat(50_000)))).toContain("a package");
      expect(held.map(({ what, login }) => [what, login])).toEqual([
        ["say hello", "the login of a test"],
        ["say hello", "the login of a test"],
        ["say 50000", "the login of a test"],
      ]);
      expect(asked.map((one) => one.slice(one.lastIndexOf("}") + 2))).toEqual(["hello\nand more", "read 50000"]);
      expect(asked.every((one) => one.includes(`Bearer ${secret}`))).toBe(true);
    });
  });

  test("is refused without the placeholder, with too long a body, packed, and where nobody is asked", async () => {
    await withRegistry(fine, async ({ outside, asked }) => {
      using proxy = await AskedProxy.open(outside, [{ host, port: 80 }], [loginFor(80)], () =>
        Promise.resolve(undefined),
      );
      expect(await proxy.send(sending("/early", "hello\n", "Authorization: Bearer own\r\n"))).toContain(
        "without the login that was agreed to",
      );
      expect(await proxy.send(sending("/whole", "x".repeat(200_000)))).toContain("too long");
      expect(await proxy.send(sending("/early", "y".repeat(2_000)))).toContain("too long");
      // Each part takes room, however short it is.
      const chunked = `Authorization: Bearer ${placeholder}\r\nTransfer-Encoding: chunked\r\n`;
      const short = `${"1\r\nx\r\n".repeat(1_000)}0\r\n\r\n`;
      expect(await proxy.send(asking(`POST http://${host}/whole`, chunked) + short)).toContain("too long");
      const packed = `Authorization: Bearer ${placeholder}\r\nContent-Encoding: gzip\r\n`;
      expect(await proxy.send(sending("/early", "hello\n", packed))).toContain("403");
      const both = `Authorization: Bearer ${placeholder}\r\nTransfer-Encoding: chunked\r\n`;
      await proxy.send(sending("/early", "0\r\n\r\n", both));
      using silent = await AskedProxy.open(outside, [{ host, port: 80 }], [loginFor(80)]);
      expect(await silent.send(sending("/early", "hello\n"))).toContain("Nobody is asked here.");
      expect(asked).toEqual([]);
      expect(proxy.connections.every(({ state }) => state === "refused")).toBe(true);
    });
  });

  test("is told to be done without being sent, and from then on nobody is reached", async () => {
    await withRegistry(fine, async ({ outside, asked }) => {
      using proxy = await AskedProxy.open(outside, [{ host, port: 80 }], [loginFor(80)], () =>
        Promise.resolve(pretended),
      );
      const read = asking(`GET http://${host}/packages/dep`);
      expect(await proxy.send(read)).toContain(" 200 ");
      expect(await proxy.send(sending("/early", "hello\nand more"))).toContain(" 201 ");
      expect(await proxy.send(read)).not.toContain(" 200 ");
      expect(asked).toHaveLength(1);
    });
  });

  test("is not sent when the run is gone before the answer, or the way is closed meanwhile", async () => {
    await withRegistry(fine, async ({ outside, asked }) => {
      const waiting = Promise.withResolvers<HeldRequest>();
      const answer = Promise.withResolvers<undefined>();
      const ask = (request: HeldRequest) => {
        waiting.resolve(request);
        return answer.promise;
      };
      const proxy = await AskedProxy.open(outside, [{ host, port: 80 }], [loginFor(80)], ask);
      const said = proxy.send(sending("/early", "hello\nand more"));
      const { signal } = await waiting.promise;
      expect(signal.aborted).toBe(false);
      proxy[Symbol.dispose]();
      await said;
      expect(signal.aborted).toBe(true);
      answer.resolve(undefined);
      await answer.promise;
      await new Promise((resolve) => setImmediate(resolve));
      expect(asked).toEqual([]);
    });
  });

  test("counts a body until the host has answered: a run cannot fill this process", async () => {
    const arrived = Promise.withResolvers<void>();
    let wasAsked = false;
    await withRegistry(
      (_request, response) => {
        if (wasAsked) response.end("sent");
        wasAsked = true;
        arrived.resolve();
      },
      async ({ outside, asked }) => {
        const most = 100 * 1024 * 1024;
        const read = (): RequestMeaning => ({ type: "reads" });
        const use = () => ({ authorization: `Bearer ${secret}`, body: { most, read } });
        using proxy = await AskedProxy.open(outside, [{ host, port: 80 }], [loginFor(80, { use })]);
        const short = `${"1\r\nx\r\n".repeat(150_000)}0\r\n\r\n`;
        const request = asking(`POST http://${host}/whole`, "Transfer-Encoding: chunked\r\n") + short;
        const first = proxy.send(request);
        await arrived.promise;
        expect(await proxy.send(request)).toContain("too long");
        expect(asked).toHaveLength(1);
        proxy[Symbol.dispose]();
        await first;
      },
    );
  });

  test("streams what follows, however much, once it is known what it does", async () => {
    await withRegistry(fine, async ({ outside, asked }) => {
      using proxy = await AskedProxy.open(outside, [{ host, port: 80 }], [loginFor(80)]);
      const body = `read\n${"z".repeat(3_000_000)}`;
      expect(await proxy.send(sending("/early", body))).toContain("a package");
      expect(asked[0]?.endsWith(body)).toBe(true);
      const chunked = `Authorization: Bearer ${placeholder}\r\nTransfer-Encoding: chunked\r\n`;
      const parts = ["re", "ad\nand ", "more", ""].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join("");
      expect(await proxy.send(asking(`POST http://${host}/early`, chunked) + parts)).toContain("a package");
      expect(asked[1]?.endsWith("read\nand more")).toBe(true);
    });
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
  ...["", "x", "xy", "xyz"].map(
    (before) =>
      [`in base64 behind "${before}"`, {}, [Buffer.from(`${before}${secret}:and more`).toString("base64")]] as const,
  ),
  ["in hexadecimal of capitals", {}, [Buffer.from(secret).toString("hex").toUpperCase()]],
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
