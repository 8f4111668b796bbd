import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import {
  type AgentClient,
  bearerToken,
  connect,
  connectGovernance,
  connectPlans,
  type GovernanceClient,
  type PlanClient,
} from "@gennai/client/connection/connection";
import { SessionPlans } from "@gennai/client/plan/session-plans";
import { type HeldApprovals, planInterceptor } from "../plan/plan-interceptor.ts";
import type { ServerProblem } from "./server-problem.ts";

/** A way to a server that speaks our protocol. Holds nothing open by itself. */
export interface ServerConnection {
  readonly url: string;
  readonly version: string;
  readonly transport: Transport;
  readonly agent: AgentClient;
  readonly governance: GovernanceClient;
  readonly plans: PlanClient;
}

/** The protocol that this extension speaks, as `GetServerInfo` counts it. */
const spokenProtocol = 1;
const patience = 5000;

export interface ConnectionOptions {
  /** The proven token to go on with after a call broke off; rejects with `ConnectError`. */
  readonly renewToken: () => Promise<string>;
  /** What holds for every call of this window, the REPL's and its own. */
  readonly interceptors: readonly Interceptor[];
  readonly approvals: HeldApprovals;
  readonly signal: AbortSignal;
}

export async function openConnection(
  url: string,
  token: string | undefined,
  options: ConnectionOptions,
): Promise<ServerConnection | ServerProblem> {
  const readPlan: Parameters<typeof planInterceptor>[1] = (sessionId, planId, call) =>
    new SessionPlans(connectPlans({ baseUrl: url, transport }), sessionId).get(planId, call);
  const transport: Transport = createGrpcWebTransport({
    baseUrl: url,
    interceptors: [
      ...options.interceptors,
      planInterceptor(options.approvals, readPlan),
      ...(token === undefined ? [] : [bearerToken(token, options.renewToken)]),
    ],
  });
  const clients = { baseUrl: url, transport };
  const agent = connect(clients);
  try {
    const { version, protocolVersion } = await agent.getServerInfo(
      {},
      { signal: AbortSignal.any([options.signal, AbortSignal.timeout(patience)]) },
    );
    if (protocolVersion < spokenProtocol) return { type: "server-old", url, version };
    if (protocolVersion > spokenProtocol) return { type: "server-new", url, version };
    return { url, version, transport, agent, governance: connectGovernance(clients), plans: connectPlans(clients) };
  } catch (error) {
    options.signal.throwIfAborted();
    return problemOf(url, error);
  }
}

export function isProblem(found: ServerConnection | ServerProblem): found is ServerProblem {
  return "type" in found;
}

function problemOf(url: string, error: unknown): ServerProblem {
  const failure = ConnectError.from(error);
  switch (failure.code) {
    case Code.Unauthenticated:
      return { type: "token-wrong", url };
    case Code.Unimplemented:
      return { type: "server-old", url, version: "unknown" };
    default:
      return { type: "call-failed", url, reason: failure.rawMessage };
  }
}
