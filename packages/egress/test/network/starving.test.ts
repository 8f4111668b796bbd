import { readdirSync } from "node:fs";
import { TestOutside } from "@gennai/testkit/test-outside";
import { expect, test } from "vitest";
import { WatchedFixture } from "./watched-fixture.ts";

/** Opens many connections to the proxy, and never says what it wants; until enough of them were ended. */
const halfRequests = `
import select, socket, time
sockets, ended = [], set()
for _ in range(600):
    one = socket.socket()
    sockets.append(one)
    try:
        one.connect(("127.0.0.53", 61080))
        one.sendall(b"GET http://a")
    except OSError: ended.add(one)
until = time.time() + 20
while len(ended) < 344 and time.time() < until:
    for one in select.select([one for one in sockets if one not in ended], [], [], 1)[0]: ended.add(one)
print("ended", len(ended))
`;

/** Asks for more names than anybody needs. */
const manyNames = `
import socket
asking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for at in range(3000):
    label = b"name%d" % at
    asking.sendto(b"\\x12\\x34\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0" + bytes([len(label)]) + label + b"\\7example\\0\\0\\1\\0\\1", ("127.0.0.53", 53))
asking.settimeout(10)
asking.recv(512)
`;

const python = (text: string): string => `python3 - <<'END'\n${text}\nEND`;

test("a command cannot hold more of the server than a bound, and the next one is served", async () => {
  using fixture = await WatchedFixture.open(new TestOutside());
  const before = readdirSync("/proc/self/fd").length;
  let most = 0;
  const looking = setInterval(() => {
    most = Math.max(most, readdirSync("/proc/self/fd").length - before);
  }, 20);
  const { output } = await fixture.run(python(halfRequests));
  clearInterval(looking);
  expect(output).toContain("ended 344");
  expect(most).toBeLessThan(400);
  const next = await fixture.run("curl -sS --max-time 10 http://a.example/");
  expect(next.connections).toMatchObject([{ host: "a.example", port: 80, state: "refused" }]);
});

test("names that were looked up are kept up to a bound", async () => {
  using fixture = await WatchedFixture.open(new TestOutside());
  const { output, lookedUp } = await fixture.run(python(manyNames));
  expect(output).toBe("");
  expect(lookedUp.length).toBeGreaterThan(0);
  expect(lookedUp.length).toBeLessThanOrEqual(40);
});
