import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { ServerAccess } from "./server-access.ts";
import { NoServerError } from "./server-problem.ts";

const { startSession, startTurn, resumeSession } = AgentService.method;
/** Methods by which a person makes the agent work: for these a server is started. */
const beginWork: ReadonlySet<unknown> = new Set([startSession, startTurn, resumeSession]);

/** A transport that connects at its first use. Without a server, calls fail as `Unavailable`, with advice. */
export function linkTransport(access: Pick<ServerAccess, "connectFor">): Transport {
  const transport = async (method: unknown): Promise<Transport> => {
    try {
      return (await access.connectFor(beginWork.has(method) ? "work" : "looking")).transport;
    } catch (error) {
      if (error instanceof NoServerError) throw new ConnectError(error.message, Code.Unavailable);
      throw error;
    }
  };
  return {
    unary: async (...call) => (await transport(call[0])).unary(...call),
    stream: async (...call) => (await transport(call[0])).stream(...call),
  };
}
