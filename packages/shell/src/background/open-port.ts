import { once } from "node:events";
import { createServer } from "node:net";
import type { SessionNetwork } from "@gennai/stage/mount/session-network";
import { reachInside } from "./reach-inside.ts";

/** A port of a session's network, opened for programs of this machine. */
export interface OpenPort {
  /** On 127.0.0.1. */
  readonly port: number;
  close(): Promise<void>;
}

/** More than a browser opens at the same time. */
const maxConnections = 256;

/**
 * Lets programs of this machine reach a port of a session's network. Rejects with a system error if `local` is taken.
 *
 * @param port port in the session's network
 * @param local port on 127.0.0.1; 0: any free one
 */
export async function openPort(network: SessionNetwork, port: number, local: number): Promise<OpenPort> {
  const inside = reachInside(network, port);
  const server = createServer({ pauseOnConnect: true }, (socket) => inside.take(socket));
  server.maxConnections = maxConnections;
  inside.onGone(() => server.close());
  const close = async (): Promise<void> => {
    // Stops listening; `inside` ends the connections.
    server.close();
    await inside.close();
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
