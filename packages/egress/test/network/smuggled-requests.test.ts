import { connect } from "node:net";
import { expect, test } from "vitest";
import { AskedProxy } from "./asked-proxy.ts";
import { asking, fine, host, loginFor, placeholder, withRegistry } from "./gateway-fixture.ts";

const auth = `Authorization: Bearer ${placeholder}\r\n`;
const chunks = (text: string, more = "") => `${text.length.toString(16)}${more}\r\n${text}\r\n0\r\n`;
const evil = "GET /-/evil HTTP/1.1\r\nHost: x\r\n\r\n";

/** What a run could send so that the host reads another request than the gateway, and what the host may get of it. */
const smuggled: readonly (readonly [name: string, bytes: string, arrives?: string])[] = [
  [
    "two lengths",
    `POST /early HTTP/1.1\r\nHost: x\r\n${auth}Content-Length: 5\r\nContent-Length: 50\r\n\r\nread\n${evil}`,
  ],
  [
    "a length beside chunks",
    `POST /early HTTP/1.1\r\nHost: x\r\n${auth}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nread\n${evil}`,
  ],
  [
    "chunks beside another coding",
    `POST /early HTTP/1.1\r\nHost: x\r\n${auth}Transfer-Encoding: chunked, identity\r\n\r\n${chunks("read\n")}\r\n${evil}`,
  ],
  [
    "chunks in a word like them",
    `POST /early HTTP/1.1\r\nHost: x\r\n${auth}Transfer-Encoding: xchunked\r\n\r\n${chunks("read\n")}\r\n${evil}`,
  ],
  [
    "chunks behind a folded line",
    `POST /early HTTP/1.1\r\nHost: x\r\n${auth}Transfer-Encoding:\r\n chunked\r\n\r\n${chunks("read\n")}\r\n${evil}`,
  ],
  [
    "an extension of a chunk",
    `POST /early HTTP/1.1\r\nHost: x\r\n${auth}Transfer-Encoding: chunked\r\n\r\n${chunks("read\n", ';x="GET /-/evil"')}\r\n`,
    "POST /early",
  ],
  [
    "trailers",
    `POST /early HTTP/1.1\r\nHost: x\r\n${auth}Transfer-Encoding: chunked\r\nTrailer: X-HTTP-Method-Override\r\n\r\n${chunks("read\n")}X-HTTP-Method-Override: evil\r\n\r\n`,
    "POST /early",
  ],
  ["a request behind another", `GET /packages/dep HTTP/1.1\r\nHost: x\r\n\r\n${evil}`, "GET /packages/dep"],
  [
    "a request as the body of one that reads",
    `GET /packages/dep HTTP/1.1\r\nHost: x\r\nContent-Length: ${evil.length}\r\n\r\n${evil}`,
    "GET /packages/dep",
  ],
  [
    "a request behind a body that is too long",
    `POST /early HTTP/1.1\r\nHost: x\r\n${auth}Content-Length: 5\r\n\r\nread\n${evil}`,
    "POST /early",
  ],
  [
    "a body that waits to be asked for",
    `POST /early HTTP/1.1\r\nHost: x\r\n${auth}Expect: 100-continue\r\nContent-Length: 5\r\n\r\nread\n${evil}`,
    "POST /early",
  ],
  [
    "a header with a blank before its colon",
    `GET /packages/dep HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n${evil}`,
  ],
  [
    "a line that ends in the middle of a header",
    `GET /packages/dep HTTP/1.1\r\nHost: x\r\nAccept: a\rX-Evil: y\r\n\r\n`,
  ],
  ["an address of another host", "GET http://elsewhere.example/packages/dep HTTP/1.1\r\nHost: x\r\n\r\n"],
  ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  [
    "a change to HTTP/2",
    "GET /packages/dep HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
    "GET /packages/dep",
  ],
  [
    "another method in a header",
    `POST /early HTTP/1.1\r\nHost: x\r\n${auth}X-HTTP-Method-Override: DELETE\r\nX-Original-URL: /-/evil\r\nContent-Length: 5\r\n\r\nread\n`,
    "POST /early",
  ],
  ["the newline of a path", "GET /packages/dep%0d%0aX-Evil:y HTTP/1.1\r\nHost: x\r\n\r\n"],
];

test.each(smuggled)("the host is sent only what was judged: %s", async (_name, bytes, arrives) => {
  await withRegistry(fine, async ({ outside, asked }) => {
    using proxy = await AskedProxy.open(outside, [{ host, port: 80 }], [loginFor(80)]);
    await proxy.send(`CONNECT ${host}:80 HTTP/1.1\r\nHost: x\r\n\r\n${bytes}${asking("GET /-/last")}`);
    expect(asked.map((one) => one.split(" ").slice(0, 2).join(" "))).toEqual(arrives === undefined ? [] : [arrives]);
    expect(asked.join("\n")).not.toMatch(/evil|override|original|upgrade|trailer|;x=/i);
  });
});

test("a body that breaks off is not the beginning of the next request", async () => {
  await withRegistry(fine, async ({ outside, asked }) => {
    using proxy = await AskedProxy.open(outside, [{ host, port: 80 }], [loginFor(80)]);
    const begun = connect(proxy.port, "127.0.0.1");
    begun.write(asking(`POST http://${host}/early`, `${auth}Content-Length: 5000\r\n`).concat("read\nand"));
    await proxy.reached();
    begun.destroy();
    expect(await proxy.send(asking(`GET http://${host}/packages/dep`))).toContain("a package");
    expect(asked.map((one) => one.split(" ").slice(0, 2).join(" "))).toContain("GET /packages/dep");
    expect(asked.every((one) => !one.startsWith("POST") || !one.includes("GET "))).toBe(true);
  });
});

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
