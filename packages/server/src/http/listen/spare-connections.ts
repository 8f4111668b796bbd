import type { IncomingMessage } from "node:http";
import type { Server, Socket } from "node:net";

/**
 * Connections of which no request was let in yet: clients open some ahead, and node does not count them as idle. They take no more
 * than half of the server's places: the oldest makes way, so that nobody without a token keeps others out.
 */
export class SpareConnections {
  readonly #sockets = new Set<Socket>();

  constructor(server: Server) {
    const add = (socket: Socket): void => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      const [oldest] = this.#sockets;
      if (this.#sockets.size > server.maxConnections / 2) oldest?.destroy();
    };
    // An encrypted connection is another socket once it is. HTTP/2 closes its own.
    server.on("setSecureContext" in server ? "secureConnection" : "connection", (socket: Socket) => {
      if (!("alpnProtocol" in socket) || socket.alpnProtocol !== "h2") add(socket);
    });
  }

  letIn({ socket }: IncomingMessage): void {
    this.#sockets.delete(socket);
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
