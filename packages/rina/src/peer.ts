import { readFileSync } from "node:fs";
import { hasOpen } from "@gennai/machine/process/process-table";

/** Both ends of an accepted TCP connection, as this server sees them. */
export interface ConnectionEnds {
  readonly localAddress: string;
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
}

/** The other end's socket, as the kernel's table has it. */
export interface PeerSocket {
  readonly uid: number;
  /** Identifies it among a process's descriptors, `socket:[inode]`. */
  readonly inode: number;
}

/** Why a peer is not let in, in words for a log and an answer. */
export type PeerVerdict = { readonly type: "trusted" } | { readonly type: "refused"; readonly reason: string };

export interface PeerPorts {
  /** Text of `/proc/net/tcp` and `/proc/net/tcp6`. Throws where they cannot be read. */
  readTables(): { readonly tcp: string; readonly tcp6: string };
  /** Ids of processes this server started, and theirs. */
  descendants(): readonly number[];
  /** Whether that process has that socket open. */
  holds(processId: number, inode: number): boolean;
}

/**
 * Checks the peer of a loopback connection. It must belong to `uid`, and must not be held by a process that the server started:
 * those are the agent's own commands. Fails closed: a connection missing from the table is refused.
 */
export function judgePeer(ends: ConnectionEnds, uid: number, ports: PeerPorts): PeerVerdict {
  let peer: PeerSocket | undefined;
  try {
    for (let look = 0; peer === undefined && look < looks; look += 1) peer = findPeer(ends, ports.readTables());
  } catch {
    return { type: "refused", reason: "it is not known whose connection this is: the kernel's table cannot be read" };
  }
  if (peer === undefined) return { type: "refused", reason: "it is not known whose connection this is" };
  if (peer.uid !== uid) return { type: "refused", reason: "the connection comes from another user of this machine" };
  const { inode } = peer;
  if (ports.descendants().some((id) => ports.holds(id, inode))) {
    return { type: "refused", reason: "the connection comes from a process this server runs for the agent" };
  }
  return { type: "trusted" };
}

/** The kernel gives a table in pieces: while connections come and go, one may be missing from it. */
const looks = 3;

/** The established socket whose own end is our remote end; undefined when the tables have none, or not exactly one. */
export function findPeer(
  ends: ConnectionEnds,
  tables: { readonly tcp: string; readonly tcp6: string },
): PeerSocket | undefined {
  const mine = tableAddresses(ends.remoteAddress, ends.remotePort);
  const ours = tableAddresses(ends.localAddress, ends.localPort);
  const found = [...tables.tcp.split("\n"), ...tables.tcp6.split("\n")].flatMap((line) => {
    // sl local rem st tx:rx tr:when retrnsmt uid timeout inode …
    const [, local = "", remote = "", state = "", , , , uid = "", , inode = ""] = line.trim().split(/\s+/);
    if (!mine.includes(local) || !ours.includes(remote) || state !== established) return [];
    // A socket without an inode belongs to no process any more, and its uid is listed as 0.
    if (!/^\d+$/.test(uid) || !/^[1-9]\d*$/.test(inode)) return [];
    return [{ uid: Number(uid), inode: Number(inode) }];
  });
  const [first, ...more] = found;
  // For the same reason, it may be listed twice.
  return more.every(({ uid, inode }) => uid === first?.uid && inode === first.inode) ? first : undefined;
}

/** The tables of this machine, and the processes of this server. Linux only. */
export function linuxPeerPorts(): PeerPorts {
  return {
    readTables: () => ({
      tcp: readFileSync("/proc/net/tcp", "latin1"),
      tcp6: readOptional("/proc/net/tcp6"),
    }),
    descendants: () => descendantsOf(process.pid),
    holds: (processId, inode) => hasOpen(processId, `socket:[${inode}]`),
  };
}

/** All direct and indirect children of a process, without itself. A reparented one is not found. */
function descendantsOf(root: number): readonly number[] {
  const found: number[] = [];
  for (const queue = [root]; queue.length > 0; ) {
    const children = childrenOf(queue.shift() ?? root);
    found.push(...children);
    queue.push(...children);
  }
  return found;
}

function childrenOf(id: number): readonly number[] {
  // Children belong to the thread that made them; Node spawns from its main thread.
  return readOptional(`/proc/${id}/task/${id}/children`)
    .split(" ")
    .filter((word) => word !== "")
    .map(Number);
}

/** Empty for a machine without that table, and for a process that has ended. */
function readOptional(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/** TCP_ESTABLISHED of the kernel. */
const established = "01";

/** `0100007F:2253` for an IPv4 address, and its mapped form in the IPv6 table; the IPv6 form for `::1`. */
function tableAddresses(address: string, port: number): readonly string[] {
  const end = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  if (address === "::1") return [`00000000000000000000000001000000${end}`];
  const parts = /^(?:::ffff:)?(\d+)\.(\d+)\.(\d+)\.(\d+)$/i.exec(address)?.slice(1);
  if (parts === undefined) return [];
  // Each word is in the machine's byte order; every machine Node runs on is little-endian, or s390x.
  const ordered = littleEndian ? parts.toReversed() : parts;
  const word = ordered.map((part) => Number(part).toString(16).toUpperCase().padStart(2, "0")).join("");
  return [`${word}${end}`, `0000000000000000${littleEndian ? "FFFF0000" : "0000FFFF"}${word}${end}`];
}

const littleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
