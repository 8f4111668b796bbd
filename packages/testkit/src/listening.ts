import { once } from "node:events";
import type { Server as HttpServer } from "node:http";
import type { Server } from "node:net";

/** Has a server listen at a free port of the loopback. Disposing ends its connections and the server. */
export async function listening(server: Server | HttpServer) {
  server.listen(0, "127.0.0.1");
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
