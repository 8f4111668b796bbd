import type { IncomingMessage } from "node:http";
import type { Server, Socket } from "node:net";

/** Connections that have not sent a request yet: clients open some ahead, and node does not count them as idle. */
export class SpareConnections {
  readonly #sockets = new Set<Socket>();

  constructor(server: Server) {
    const add = (socket: Socket): void => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    };
    const used = (request: IncomingMessage): void => {
      if (request.httpVersionMajor < 2) this.#sockets.delete(request.socket);
    };
    // An encrypted connection is another socket once it is. HTTP/2 closes its own.
    server.on("setSecureContext" in server ? "secureConnection" : "connection", (socket: Socket) => {
      if (!("alpnProtocol" in socket) || socket.alpnProtocol !== "h2") add(socket);
    });
    server.on("request", used);
    server.on("checkContinue", used);
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
