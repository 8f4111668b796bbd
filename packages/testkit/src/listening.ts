import { once } from "node:events";
import type { Server as HttpServer } from "node:http";
import { createServer, type Server } from "node:net";

/** Has a server listen at a port of the loopback, 0: a free one. Disposing ends its connections and the server. */
export async function listening(server: Server | HttpServer, wanted = 0) {
  server.listen(wanted, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      if ("closeAllConnections" in server) server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** One of the loopback that nothing listens on now. */
export async function freePort(): Promise<number> {
  await using taken = await listening(createServer());
  return taken.port;
}
