import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { type ConnectionEnds, findPeer, judgePeer, linuxPeerPorts, type PeerPorts } from "#peer";

const heading = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
const row = (local: string, remote: string, state: string, uid: number, inode: number): string =>
  `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000  ${uid}        0 ${inode} 1 0000000000000000 20 4 30 10 -1`;
/** The client on port 54321, as the server on 8787 sees it. */
const ends: ConnectionEnds = {
  localAddress: "127.0.0.1",
  localPort: 8787,
  remoteAddress: "127.0.0.1",
  remotePort: 54321,
};
const client = "0100007F:D431";
const server = "0100007F:2253";
const mapped = "0000000000000000FFFF0000";

const tables: readonly [string, readonly string[], readonly string[], ReturnType<typeof findPeer>][] = [
  [
    "the client's own line, not ours",
    [row(server, client, "01", 7, 1), row(client, server, "01", 1000, 42)],
    [],
    { uid: 1000, inode: 42 },
  ],
  ["a client of the IPv6 table", [], [row(mapped + client, mapped + server, "01", 1000, 42)], { uid: 1000, inode: 42 }],
  ["no line", [row("0100007F:D432", server, "01", 1000, 42)], [], undefined],
  ["another server", [row(client, "0100007F:2254", "01", 1000, 42)], [], undefined],
  ["a connection that waits for its end", [row(client, server, "06", 0, 0)], [], undefined],
  ["a socket that nobody holds any more", [row(client, server, "01", 0, 0)], [], undefined],
  [
    "two lines that could be meant",
    [row(client, server, "01", 1000, 42)],
    [row(mapped + client, mapped + server, "01", 0, 43)],
    undefined,
  ],
  [
    "one line that the kernel gave twice",
    [row(client, server, "01", 1000, 42), row(client, server, "01", 1000, 42)],
    [],
    { uid: 1000, inode: 42 },
  ],
  ["a torn line", [`   0: ${client} ${server} 01`], [], undefined],
];

test.each(tables)("findPeer: %s", (_, tcp, tcp6, wanted) => {
  const text = (lines: readonly string[]) => [heading, ...lines, ""].join("\n");
  expect(findPeer(ends, { tcp: text(tcp), tcp6: text(tcp6) })).toEqual(wanted);
});

const ports = (changes: Partial<PeerPorts> = {}): PeerPorts => ({
  readTables: () => ({ tcp: row(client, server, "01", 1000, 42), tcp6: "" }),
  descendants: () => [50, 51],
  holds: () => false,
  ...changes,
});

describe("judgePeer", () => {
  test("the same user's process is let in", () => {
    expect(judgePeer(ends, 1000, ports())).toEqual({ type: "trusted" });
  });

  test("a table in which the kernel left the connection out is read again", () => {
    const readings = ["", row(client, server, "01", 1000, 42)];
    const readTables = () => ({ tcp: readings.shift() ?? "", tcp6: "" });
    expect(judgePeer(ends, 1000, ports({ readTables }))).toEqual({ type: "trusted" });
  });

  const hostile: readonly [string, number, Partial<PeerPorts>, RegExp][] = [
    ["another user", 1001, {}, /another user/],
    [
      "root, when we are not",
      500,
      { readTables: () => ({ tcp: row(client, server, "01", 0, 42), tcp6: "" }) },
      /another user/,
    ],
    ["a command of the agent", 1000, { holds: (id, inode) => id === 51 && inode === 42 }, /for the agent/],
    ["nobody knows who", 1000, { readTables: () => ({ tcp: "", tcp6: "" }) }, /not known/],
    [
      "no table",
      1000,
      {
        readTables: () => {
          throw new Error("no /proc");
        },
      },
      /not known/,
    ],
  ];
  test.each(hostile)("%s is refused", (_, uid, changes, reason) => {
    expect(judgePeer(ends, uid, ports(changes))).toEqual({ type: "refused", reason: expect.stringMatching(reason) });
  });

  test.runIf(process.platform === "linux")(
    "on this machine: a process of ours that is no child, and one that is",
    async () => {
      const seen: string[] = [];
      await using http = createServer((request, response) => {
        const { localAddress = "", localPort = 0, remoteAddress = "", remotePort = 0 } = request.socket;
        const uid = process.getuid?.() ?? -1;
        seen.push(judgePeer({ localAddress, localPort, remoteAddress, remotePort }, uid, linuxPeerPorts()).type);
        response.end();
      });
      await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
      const { port } = http.address() as AddressInfo;
      await fetch(`http://127.0.0.1:${port}`, { headers: { connection: "close" } });
      const script = `fetch("http://127.0.0.1:${port}", { headers: { connection: "close" } })`;
      // Through a shell, as the agent's commands run.
      const child = spawn("sh", ["-c", `"${process.execPath}" -e '${script}'; true`], { stdio: "ignore" });
      await once(child, "exit");
      expect(seen).toEqual(["trusted", "refused"]);
    },
  );
});
