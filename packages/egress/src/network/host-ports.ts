import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { addressForm, isLoopback } from "@gennai/governance/endpoint";
import { systemErrorCode } from "@gennai/machine/system-error";

/**
 * The ports among these on which other programs of this machine listen for local connections. Excludes this process's ports,
 * because no command may connect to Gennai.
 */
export function hostPorts(among: ReadonlySet<number>): readonly number[] {
  const found = tables.flatMap((name) => parseListening(tableOf(name))).filter(({ port }) => among.has(port));
  if (found.length === 0) return [];
  const sockets = ownSockets();
  const own = new Set(found.filter(({ inode }) => sockets.has(inode)).map(({ port }) => port));
  return [...new Set(found.map(({ port }) => port))].filter((port) => !own.has(port));
}

/** Whether an address is one of this machine's, and this process listens on that port of any of its addresses. */
export function isOwnPort(address: string, port: number): boolean {
  if (!isHere(addressForm(address) ?? address)) return false;
  const listeners = tables.flatMap((name) => listeningSockets(tableOf(name))).filter((one) => one.port === port);
  if (listeners.length === 0) return false;
  const sockets = ownSockets();
  return listeners.some(({ inode }) => sockets.has(inode));
}

/** Parses lines such as `0: 0100007F:1538 00000000:0000 0A … INODE`: what listens on the loopback or on all addresses. */
export function parseListening(table: string): readonly { readonly port: number; readonly inode: string }[] {
  return listeningSockets(table).flatMap(({ address, port, inode }) => {
    const reachable =
      /^0+$/.test(address) ||
      /^[0-9A-F]{6}7F$/.test(address) ||
      address === "00000000000000000000000001000000" ||
      /^0{16}FFFF0000[0-9A-F]{6}7F$/.test(address);
    return reachable ? [{ port, inode }] : [];
  });
}

const tables = ["tcp", "tcp6"] as const;

function isHere(host: string): boolean {
  if (isLoopback({ host })) return true;
  return Object.values(networkInterfaces()).some((all) => all?.some((one) => addressForm(one.address) === host));
}

function listeningSockets(table: string) {
  return table.split("\n").flatMap((line) => {
    const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
    const [address = "", port = ""] = local.split(":");
    return state === "0A" ? [{ address, port: Number.parseInt(port, 16), inode }] : [];
  });
}

/** Throws if a table exists but cannot be read. */
function tableOf(name: (typeof tables)[number]): string {
  try {
    return readFileSync(`/proc/self/net/${name}`, "latin1");
  } catch (error) {
    // A system without IPv6 has no such table.
    if (systemErrorCode(error) === "ENOENT") return "";
    throw error;
  }
}

function ownSockets(): ReadonlySet<string> {
  const inodes = new Set<string>();
  for (const name of readdirSync("/proc/self/fd")) {
    try {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${name}`)) ?? [];
      if (inode !== undefined) inodes.add(inode);
    } catch {
      // The descriptor of the listing itself is closed by now.
    }
  }
  return inodes;
}
