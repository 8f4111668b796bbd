import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import * as z from "zod";

export interface StandIn extends AsyncDisposable {
  readonly port: number;
}

/** A program that knows nothing of Gennai. Port 0: a free one. */
export function startStranger(port: number): Promise<StandIn> {
  return listen(port, (_request, response) => response.end("<h1>It works!</h1>"));
}

/** A server from before today's protocol: it proves that it knows the token, and counts its protocol lower. */
export function startOldServer(port: number, token: string): Promise<StandIn> {
  const answer = connectNodeAdapter({
    routes: (router) =>
      router.service(AgentService, { getServerInfo: () => ({ version: "0.0.1", protocolVersion: 0 }) }),
  });
  return listen(port, (request, response) => {
    if (request.url !== "/challenge") return answer(request, response);
    void text(request).then((body) => {
      const { nonce } = z.object({ nonce: z.string() }).parse(JSON.parse(body));
      const proof = createHmac("sha256", token).update(`gennai-server-proof:${request.headers.host}:${nonce}`);
      response.setHeader("Content-Type", "application/json").end(JSON.stringify({ proof: proof.digest("base64url") }));
    });
  });
}

async function listen(wanted: number, listener: RequestListener): Promise<StandIn> {
  const server = createServer(listener).listen(wanted, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** One that nothing listens on now. */
export async function freePort(): Promise<number> {
  await using standIn = await startStranger(0);
  return standIn.port;
}
