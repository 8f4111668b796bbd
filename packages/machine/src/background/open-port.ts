import { once } from "node:events";
import { createServer } from "node:net";
import type { SessionNetwork } from "../stage/keeper/session-network.ts";
import { reachInside } from "./reach-inside.ts";

/** A port of a session's network that this machine's programs reach. */
export interface OpenPort {
  /** On 127.0.0.1. */
  readonly port: number;
  close(): Promise<void>;
}

/** More than a browser opens at once. */
const maxConnections = 256;

/**
 * Lets programs of this machine reach a port of a session's network. Rejects with a system error when `local` is taken.
 *
 * @param port in the session's network
 * @param local on 127.0.0.1; any free one for 0
 */
export async function openPort(network: SessionNetwork, port: number, local: number): Promise<OpenPort> {
  const inside = reachInside(network, port);
  const server = createServer({ pauseOnConnect: true }, (socket) => inside.take(socket));
  server.maxConnections = maxConnections;
  inside.onGone(() => server.close());
  const close = async (): Promise<void> => {
    // It listens no more from here on; connections end with the way.
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
