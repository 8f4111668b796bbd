import { createServer } from "node:net";
import { listening } from "@gennai/testkit/listening";
import { TestOutside } from "@gennai/testkit/test-outside";
import { expect, test } from "vitest";
import { AskedProxy } from "./asked-proxy.ts";

const long = "x".repeat(100_000);

/** What an allowed host answers; after it, it hangs up. */
const answers: Readonly<Record<string, string>> = {
  "a status that is none": "HTTP/1.1 099 X\r\n\r\nbody",
  "a status too large": "HTTP/1.1 9999 X\r\n\r\n",
  "a control character in the status line": "HTTP/1.1 200 O\x01K\r\n\r\nbody",
  "a status line of many bytes": `HTTP/1.1 200 ${"\xff\x80".repeat(500)}\r\n\r\nbody`,
  "a status for another protocol": "HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nbody",
  "many that are not yet an answer": "HTTP/1.1 102 Wait\r\n\r\n".repeat(1000),
  "two at once": "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
  "a name with a space": "HTTP/1.1 200 OK\r\na b: c\r\n\r\n",
  "no name": "HTTP/1.1 200 OK\r\n: c\r\n\r\n",
  "a value with a control character": "HTTP/1.1 200 OK\r\na: b\x01c\r\n\r\n",
  "a value with a zero": "HTTP/1.1 200 OK\r\na: b\0c\r\n\r\n",
  "a folded value": "HTTP/1.1 200 OK\r\na: b\r\n c\r\n\r\n",
  "headers without end": `HTTP/1.1 200 OK\r\na: ${long}`,
  "two lengths": "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nabc",
  "a length below nothing": "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nabc",
  "a length that never comes": "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc",
  "a chunk of no size": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc",
  "a chunk without end": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\nabc",
  "trailers nobody announced": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\na: \x01\r\n\r\n",
  "a body where there is none": `HTTP/1.1 204 None\r\nContent-Length: 100000\r\n\r\n${long}`,
  "no answer": "",
  noise: Array.from({ length: 600 }, (_, at) => String.fromCharCode((at * 7919) & 255)).join(""),
};

test("no answer of an allowed host ends the server, and the next one is heard", async () => {
  using outside = new TestOutside();
  const names = Object.keys(answers);
  const host = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (bytes: Buffer) => {
      const [, at = ""] = /\/answer-(\d+) /.exec(bytes.toString("latin1")) ?? [];
      const answer = answers[names[Number(at)] ?? ""];
      socket.end(at === "" ? "HTTP/1.1 200 OK\r\n\r\nwell" : Buffer.from(answer ?? "", "latin1"));
    });
  });
  await listening(host);
  outside.host("evil.example", 80, host);
  using proxy = await AskedProxy.open(outside, [{ host: "evil.example", port: 80 }]);
  for (const [at, name] of names.entries()) {
    for (const method of ["GET", "HEAD", "POST"]) {
      const sent = `${method} http://evil.example/answer-${at} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`;
      await proxy.send(`${sent}Content-Length: 3\r\n\r\nabc`);
    }
    expect(await proxy.get("http://evil.example/"), name).toMatch(/\r\n\r\n(?:4\r\n)?well/);
  }
  host.close();
});

test("no connection that is cut at any moment ends the server", async () => {
  using outside = new TestOutside();
  const host = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.resetAndDestroy());
  });
  await listening(host);
  outside.host("evil.example", 80, host);
  using proxy = await AskedProxy.open(outside, [{ host: "evil.example", port: 80 }]);
  const tunnel = "CONNECT evil.example:80 HTTP/1.1\r\nHost: x\r\n\r\n";
  const request = "POST http://evil.example/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nabc";
  await Promise.all(Array.from({ length: 30 }, () => [proxy.send(`${tunnel}early bytes`), proxy.send(request)]).flat());
  expect(proxy.connections).toMatchObject([{ host: "evil.example", state: "allowed", count: 60 }]);
  host.close();
});
