import { Socket as DatagramSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, Server, type Socket } from "node:net";
import { inheritedDescriptors } from "@gennai/machine/process/inherited-descriptors";
import { startProcess } from "@gennai/machine/process/start-process";
import type { SessionNetwork } from "@gennai/stage/mount/session-network";
import { systemProgram } from "@gennai/stage/transaction/system-program";

/** An address of a network's own loopback. */
export interface InsideAddress {
  readonly address: string;
  readonly port: number;
}

export interface OpenedInside {
  /** Empty if a port is already in use. */
  readonly servers: readonly { readonly at: InsideAddress; readonly server: Server }[];
  readonly datagrams: DatagramSocket | undefined;
}

/**
 * Opens sockets as told, and passes them to this process. A socket stays in the network in which it was opened. Text, so that a
 * bundle needs no second file.
 */
const program = `
const net = require("node:net");
const dgram = require("node:dgram");
process.on("disconnect", () => process.exit());
// Node tells nothing of it while a handle that was sent was not taken: it never will be when the other side was killed.
setInterval(() => process.ppid === Number(process.argv[1]) || process.exit(1), 1_000).unref();
process.on("message", async ({ tcp, udp }) => {
  const send = (message, handle) => new Promise((sent) => process.send(message, handle, sent));
  for (const at of tcp) {
    const server = net.createServer({ pauseOnConnect: true });
    const listens = await new Promise((done) => {
      server.once("error", () => done(false));
      server.listen({ host: at.address, port: at.port }, () => done(true));
    });
    if (listens) await send({ at }, server);
  }
  if (udp) {
    const socket = dgram.createSocket("udp4");
    const bound = await new Promise((done) => {
      socket.once("error", () => done(false));
      socket.bind({ address: udp.address, port: udp.port }, () => done(true));
    });
    if (bound) await send({ udp: true }, socket);
  }
  process.exit();
});
`;

/** Milliseconds; a machine under load takes long to start a program. */
const timeoutMs = 20_000;

export interface ListenInsideOptions {
  readonly tcp: readonly InsideAddress[];
  readonly udp?: InsideAddress;
  /** Gets each connection, also one that comes before the promise is fulfilled. */
  readonly accept: (socket: Socket, at: InsideAddress) => void;
  /** Nothing is read of a connection, so that it can be passed to another process without losing a byte; false by default. */
  readonly pauseOnConnect?: boolean;
}

/**
 * Opens listening sockets in a network without a way out, for this process, which answers whoever connects there. No program of
 * ours stays in the network. Rejects with `Error` if the network cannot be joined.
 */
export async function listenInside(
  network: SessionNetwork,
  { tcp, udp, accept, pauseOnConnect = false }: ListenInsideOptions,
): Promise<OpenedInside> {
  const stdio: ("ignore" | "ipc")[] = ["ignore", "ignore", "ignore"];
  while (stdio.length <= Math.max(2, ...inheritedDescriptors())) stdio.push("ignore");
  stdio.push("ipc");
  const { ELECTRON_RUN_AS_NODE: asNode } = process.env;
  const argv = [process.execPath, "--max-old-space-size=32", "-e", program, String(process.pid)];
  const child = startProcess(systemProgram("nsenter"), [...network.joinArguments, "--", ...argv], {
    cwd: "/",
    env: asNode === undefined ? {} : { ELECTRON_RUN_AS_NODE: asNode },
    stdio,
    detached: true,
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  });
  const servers: { readonly at: InsideAddress; readonly server: Server }[] = [];
  let datagrams: DatagramSocket | undefined;
  // Once it has ended, its errors and leftovers no longer matter.
  child.on("error", () => undefined);
  child.on("message", (message: { readonly at?: InsideAddress }, handle) => {
    const { at } = message;
    if (handle instanceof Server && at !== undefined) {
      const server = createServer({ pauseOnConnect }, (socket) => accept(socket, at));
      server.on("error", () => undefined);
      server.listen(handle);
      // It must not keep this process running.
      server.unref();
      servers.push({ at, server });
    } else if (handle instanceof DatagramSocket) {
      datagrams = handle;
      datagrams.unref();
      datagrams.on("error", () => undefined);
    }
  });
  child.send({ tcp, ...(udp === undefined ? {} : { udp }) }, () => undefined);
  await once(child, "close");
  const { exitCode: code } = child;
  if (code === 0) return { servers, datagrams };
  for (const { server } of servers) server.close();
  datagrams?.close();
  throw new Error(`Nothing can listen in the network of the session (exit code ${code}).`);
}
