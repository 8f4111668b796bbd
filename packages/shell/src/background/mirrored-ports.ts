import { execFile } from "node:child_process";
import type { Server, Socket } from "node:net";
import { promisify } from "node:util";
import { listenInside } from "@gennai/egress/network/listen-inside";
import { OneByOne } from "@gennai/machine/one-by-one";
import type { SessionNetwork } from "@gennai/stage/mount/session-network";
import { systemProgram } from "@gennai/stage/transaction/system-program";
import { type PortInside, reachInside } from "./reach-inside.ts";

/** Enough for a server and its helpers. Each port takes a process. */
const maxPorts = 8;
/** Milliseconds; a machine under load takes long to start a program. */
const timeoutMs = 10_000;

/**
 * Ports of a run that has a network of its own, made reachable for other commands of its session: at the same number on their own
 * loopback. The run cannot reach the others this way.
 */
export class MirroredPorts implements AsyncDisposable {
  readonly #from: SessionNetwork;
  readonly #into: SessionNetwork;
  readonly #isOurs: (port: number) => boolean;
  readonly #open = new Map<number, { readonly servers: readonly Server[]; readonly inside: PortInside }>();
  readonly #renewing = new OneByOne<"ports">();
  #closed = false;

  /** @param isOurs ports of `from` at which this process listens: the run's own ways out */
  constructor(from: SessionNetwork, into: SessionNetwork, isOurs: (port: number) => boolean) {
    this.#from = from;
    this.#into = into;
    this.#isOurs = isOurs;
  }

  /** Opens the ports at which the run listens now, and closes the others. Never rejects: a missing port refuses connections. */
  async renew(): Promise<void> {
    await this.#renewing.run("ports", async () => {
      if (this.#closed) return;
      const listening = await listeningPorts(this.#from).catch(() => undefined);
      if (listening === undefined) return;
      const wanted = new Set([...listening].filter((port) => !this.#isOurs(port)));
      for (const port of this.#open.keys()) if (!wanted.has(port)) await this.#shut(port);
      for (const port of wanted) {
        if (!this.#open.has(port) && this.#open.size < maxPorts) await this.#mirror(port).catch(() => undefined);
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#renewing.run("ports", async () => {
      for (const port of this.#open.keys()) await this.#shut(port);
    });
  }

  async #mirror(port: number): Promise<void> {
    const tcp = ["127.0.0.1", "::1"].map((address) => ({ address, port }));
    const inside = reachInside(this.#from, port);
    try {
      const accept = (socket: Socket): void => inside.take(socket);
      const { servers } = await listenInside(this.#into, { tcp, accept, pauseOnConnect: true });
      // None: another process of the session already listens at that port.
      if (servers.length === 0) await inside.close();
      else this.#open.set(port, { servers: servers.map(({ server }) => server), inside });
    } catch (error) {
      await inside.close();
      throw error;
    }
  }

  async #shut(port: number): Promise<void> {
    const known = this.#open.get(port);
    this.#open.delete(port);
    for (const server of known?.servers ?? []) server.close();
    await known?.inside.close();
  }
}

/** Ports at which a program listens on a network's loopback, or on all of its addresses. */
async function listeningPorts(network: SessionNetwork): Promise<ReadonlySet<number>> {
  const argv = [...network.joinArguments, "--", "/bin/cat", "/proc/net/tcp", "/proc/net/tcp6"];
  const options = { cwd: "/", env: {}, timeout: timeoutMs };
  const { stdout } = await promisify(execFile)(systemProgram("nsenter"), argv, options);
  return parseListening(stdout);
}

/** Parses the system's list of sockets: addresses in the machine's byte order; state 0A means that it listens. */
export function parseListening(table: string): ReadonlySet<number> {
  const ports = new Set<number>();
  for (const [, address = "", port = ""] of table.matchAll(/^\s*\d+: ([0-9A-F]{8,32}):([0-9A-F]{4}) \S+ 0A /gm)) {
    if (everybodys.has(address)) ports.add(Number.parseInt(port, 16));
  }
  return ports;
}

const everybodys: ReadonlySet<string> = new Set([
  ...["00000000", "0100007F"],
  ...["00000000000000000000000000000000", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F"],
]);
