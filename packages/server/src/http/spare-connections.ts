import type { Server } from "node:http";
import type { Socket } from "node:net";

/** Connections that have not sent a request yet: clients open some ahead, and node does not count them as idle. */
export class SpareConnections {
  readonly #sockets = new Set<Socket>();

  constructor(server: Server) {
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    server.on("request", ({ socket }) => this.#sockets.delete(socket));
    server.on("checkContinue", ({ socket }) => this.#sockets.delete(socket));
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
