import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { inheritedDescriptors } from "@gennai/machine/process/inherited-descriptors";
import { startProcess } from "@gennai/machine/process/start-process";
import type { SessionNetwork } from "@gennai/stage/mount/session-network";
import { systemProgram } from "@gennai/stage/transaction/system-program";

/** Connects sockets of this process to a port of a network. */
export interface PortInside {
  /** Joins a socket to the port; the socket is destroyed if that is not possible. */
  take(socket: Socket): void;
  /** Called when the port cannot be reached any more. */
  onGone(listener: () => void): void;
  /** Ends all connections. */
  close(): Promise<void>;
}

/** Runs in the network: connects each socket that it gets to the port. As text, so that a bundle needs no second file. */
const program = `
const net = require("node:net");
const port = Number(process.argv[1]);
process.on("disconnect", () => process.exit());
process.on("message", (_message, socket) => {
  if (!socket) return;
  // Who has sent everything still waits for the answer.
  socket.allowHalfOpen = true;
  const there = net.connect({ port, host: "localhost", allowHalfOpen: true });
  for (const one of [socket, there]) one.on("error", () => { socket.destroy(); there.destroy(); });
  socket.pipe(there).pipe(socket);
});
`;

/** Makes a port of a network's loopback reachable, even if nothing listens there yet. */
export function reachInside(network: SessionNetwork, port: number): PortInside {
  const helper = startHelper(network, port);
  return {
    take: (socket) => {
      if (helper.connected) helper.send({}, socket, () => undefined);
      else socket.destroy();
    },
    onGone: (listener) => {
      helper.on("error", listener);
      helper.on("exit", listener);
    },
    close: async () => {
      if (helper.exitCode !== null || helper.signalCode !== null) return;
      const gone = once(helper, "exit");
      helper.kill("SIGKILL");
      await gone;
    },
  };
}

function startHelper(network: SessionNetwork, port: number): ChildProcess {
  const inherited = inheritedDescriptors();
  const stdio: ("ignore" | "ipc")[] = ["ignore", "ignore", "ignore"];
  while (stdio.length <= Math.max(2, ...inherited)) stdio.push("ignore");
  stdio.push("ipc");
  const { ELECTRON_RUN_AS_NODE: asNode } = process.env;
  const argv = [process.execPath, "--max-old-space-size=64", "-e", program, String(port)];
  return startProcess(systemProgram("nsenter"), [...network.joinArguments, "--", ...argv], {
    cwd: "/",
    env: asNode === undefined ? {} : { ELECTRON_RUN_AS_NODE: asNode },
    stdio,
    // A Ctrl-C at the terminal must only reach this process, which decides what it means.
    detached: true,
  });
}
