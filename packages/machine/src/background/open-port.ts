import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { inheritedDescriptors } from "../process/inherited-descriptors.ts";
import type { SessionNetwork } from "../stage/session-network.ts";
import { systemProgram } from "../stage/system-program.ts";

/** A port of this machine's loopback that leads to one of a session's network. */
export interface OpenPort {
  /** On 127.0.0.1. */
  readonly port: number;
  close(): Promise<void>;
}

/** In the network: connects to the port, and joins what it is handed to that. Text, so that a bundle needs no second file. */
const program = `
const net = require("node:net");
const port = Number(process.argv[1]);
process.on("disconnect", () => process.exit());
process.on("message", (_message, socket) => {
  if (!socket) return;
  const there = net.connect({ port, host: "localhost" });
  for (const one of [socket, there]) one.on("error", () => { socket.destroy(); there.destroy(); });
  socket.pipe(there).pipe(socket);
});
`;

/** More than a browser opens at once. */
const maxConnections = 256;

/**
 * Lets programs of this machine reach a port of a session's network. Rejects with a system error when `local` is taken.
 *
 * @param port in the session's network
 * @param local on 127.0.0.1; any free one for 0
 */
export async function openPort(network: SessionNetwork, port: number, local: number): Promise<OpenPort> {
  const helper = startHelper(network, port);
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    if (helper.connected) helper.send({}, socket, () => undefined);
    else socket.destroy();
  });
  server.maxConnections = maxConnections;
  helper.on("error", () => server.close());
  helper.on("exit", () => server.close());
  const close = async (): Promise<void> => {
    // It listens no more from here on; connections end with the helper.
    server.close();
    if (helper.exitCode !== null || helper.signalCode !== null) return;
    const gone = once(helper, "exit");
    helper.kill("SIGKILL");
    await gone;
  };
  try {
    server.listen({ host: "127.0.0.1", port: local });
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("The port has no number.");
    return { port: address.port, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function startHelper(network: SessionNetwork, port: number): ChildProcess {
  const inherited = inheritedDescriptors();
  const stdio: ("ignore" | "ipc")[] = ["ignore", "ignore", "ignore"];
  while (stdio.length <= Math.max(2, ...inherited)) stdio.push("ignore");
  stdio.push("ipc");
  const { ELECTRON_RUN_AS_NODE: asNode } = process.env;
  const argv = [process.execPath, "--max-old-space-size=64", "-e", program, String(port)];
  return spawn(systemProgram("nsenter"), [...network.joinArguments, "--", ...argv], {
    cwd: "/",
    env: asNode === undefined ? {} : { ELECTRON_RUN_AS_NODE: asNode },
    stdio,
    // A Ctrl-C at the terminal is for this process to decide about.
    detached: true,
  });
}
