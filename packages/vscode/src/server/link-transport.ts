import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import type { ServerLink } from "./server-link.ts";
import { NoServerError } from "./server-problem.ts";

/** A transport that connects when it is used, and fails as `Unavailable`, with what to do, while there is no server. */
export function linkTransport(link: ServerLink): Transport {
  const transport = async (): Promise<Transport> => {
    try {
      return (await link.connect()).transport;
    } catch (error) {
      if (error instanceof NoServerError) throw new ConnectError(error.message, Code.Unavailable);
      throw error;
    }
  };
  return {
    unary: async (...call) => (await transport()).unary(...call),
    stream: async (...call) => (await transport()).stream(...call),
  };
}
