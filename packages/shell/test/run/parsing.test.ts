import { parseListening } from "@gennai/egress/network/host-ports";
import { requestTarget, tunnelTarget } from "@gennai/egress/network/http-proxy";
import { asksForAddress, nameAnswer, parseNameQuery } from "@gennai/egress/network/name-message";
import { expect, test } from "vitest";
import { namedPorts } from "#run/network-of-run";

function query(name: string, type = 1): Buffer {
  const labels = name.split(".").flatMap((label) => [Buffer.from([label.length]), Buffer.from(label, "latin1")]);
  return Buffer.concat([
    Buffer.from([0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
    ...labels,
    Buffer.from([0, 0, type, 0, 1]),
  ]);
}

test("a question for an address is read, and answered with one", () => {
  const read = parseNameQuery(query("Registry.EXAMPLE"));
  expect(read).toMatchObject({ id: 0x1234, name: "registry.example", type: 1 });
  if (read === undefined) return;
  expect(asksForAddress(read)).toBe(true);
  const answer = nameAnswer(read, { address: "127.77.0.9" });
  expect([...answer.subarray(0, 8)]).toEqual([0x12, 0x34, 0x81, 0x80, 0, 1, 0, 1]);
  expect([...answer.subarray(-4)]).toEqual([127, 77, 0, 9]);
  expect(nameAnswer(read, "unknown")[3]).toBe(0x83);
  expect(nameAnswer(read, "none")[3]).toBe(0x80);
});

test("no bytes make the name server fail, and only plain questions are read", () => {
  const plain = query("a.example");
  for (let length = 0; length < plain.length; length += 1)
    expect(parseNameQuery(plain.subarray(0, length))).toBeUndefined();
  const pointer = Buffer.from(plain);
  pointer[12] = 0xc0;
  const two = Buffer.from(plain);
  two[5] = 2;
  const answer = Buffer.from(plain);
  answer[2] = 0x80;
  for (const bad of [pointer, two, answer, query("a b.example"), query("a\0b.example"), Buffer.alloc(600, 1)]) {
    expect(parseNameQuery(bad)).toBeUndefined();
  }
  for (let round = 0; round < 500; round += 1) {
    const noise = Buffer.from(Array.from({ length: round }, (_, at) => (at * 7919 + round * 104_729) & 255));
    expect(() => parseNameQuery(noise)).not.toThrow();
  }
});

test.for([
  ["registry.example:443", { host: "registry.example", port: 443 }],
  ["[::1]:443", { host: "::1", port: 443 }],
  ["registry.example", undefined],
  ["http://registry.example:443", undefined],
  ["user@registry.example:443", undefined],
  ["registry.example:443/x", undefined],
  ["", undefined],
] as const)("a tunnel to %s", ([target, endpoint]) => {
  expect(tunnelTarget(target)).toEqual(endpoint);
});

test.for([
  ["http://registry.example/x?y", { endpoint: { host: "registry.example", port: 80 }, path: "/x?y" }],
  ["http://Registry.Example:8080", { endpoint: { host: "registry.example", port: 8080 }, path: "/" }],
  ["http://0x7f.1/", { endpoint: { host: "127.0.0.1", port: 80 }, path: "/" }],
  ["http://user@registry.example/", undefined],
  ["https://registry.example/", undefined],
  ["ftp://registry.example/", undefined],
  ["/x", undefined],
  ["http://", undefined],
] as const)("a request for %s", ([target, wanted]) => {
  expect(requestTarget(target)).toEqual(wanted);
});

test("who listens on the loopback is read from the system's tables", () => {
  const rows = [
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
    "   0: 0100007F:1538 00000000:0000 0A 00000000:00000000 00:00000000 00000000   105        0 11 1",
    "   1: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12 1",
    "   2: 0100007F:0051 0100007F:9999 01 00000000:00000000 00:00000000 00000000     0        0 13 1",
    "   3: 0A00000A:0052 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 14 1",
    "   4: 00000000000000000000000001000000:18EB 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 15 1",
  ];
  expect(parseListening(rows.join("\n"))).toEqual([
    { port: 5432, inode: "11" },
    { port: 80, inode: "12" },
    { port: 6379, inode: "15" },
  ]);
});

test("ports that a command names", () => {
  expect(namedPorts("psql -p 5433 -h db; curl http://a:8080/x --port=9000 -d 12:30:45678901")).toEqual([
    5433, 8080, 9000, 30,
  ]);
});
