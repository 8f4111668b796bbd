import { once } from "node:events";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";

/** Listens on this machine, and answers with what a handler of the web's own requests and responses gives. */
export async function listeningHandler(handle: (request: Request) => Promise<Response>) {
  const server = createServer((incoming, outgoing) => {
    const answered = async () => {
      const { method = "GET", url = "/", headers } = incoming;
      const response = await handle(
        new Request(new URL(url, `http://${headers.host}`), {
          method,
          headers: Object.entries(incoming.headersDistinct).map(([name, [value = ""] = []]) => [name, value]),
          ...(method === "POST" ? { body: await text(incoming) } : {}),
        }),
      );
      outgoing.writeHead(response.status, Object.fromEntries(response.headers)).flushHeaders();
      if (response.body === null) outgoing.end();
      else await pipeline(Readable.from(response.body), outgoing);
    };
    answered().catch(() => outgoing.destroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("it does not listen");
  return {
    origin: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
