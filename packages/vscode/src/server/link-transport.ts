import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { ServerAccess } from "./server-access.ts";
import { NoServerError } from "./server-problem.ts";

const { startSession, startTurn, resumeSession } = AgentService.method;
/** What a person does who wants the agent to work: for that a server is started. */
const beginWork: ReadonlySet<unknown> = new Set([startSession, startTurn, resumeSession]);

/** A transport that connects when it is used, and fails as `Unavailable`, with what to do, while there is no server. */
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
