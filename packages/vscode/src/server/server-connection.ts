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
import { lackingIsolation } from "@gennai/client/connection/isolation-promise";
import type { CommandsMode } from "@gennai/protocol/commands-mode";
import type { ServerProblem } from "./server-problem.ts";

/** Clients of a server that speaks our protocol. Holds no connection open. */
export interface ServerConnection {
  readonly url: string;
  readonly version: string;
  /** True if it announced itself on this machine, to this user; a later server on another port counts as the same. */
  readonly isHere: boolean;
  readonly transport: Transport;
  readonly agent: AgentClient;
  readonly governance: GovernanceClient;
  readonly plans: PlanClient;
}

/** The protocol version that this extension speaks, as in `GetServerInfo`. */
const spokenProtocol = 1;
const timeoutMs = 5000;

export interface ConnectionOptions {
  /** The proven token to continue with after a call broke off; rejects with `ConnectError`. */
  readonly renewToken: () => Promise<string>;
  /** Apply to every call of this window, its own and those of the REPL. */
  readonly interceptors: readonly Interceptor[];
  /** Also required of a server that others started. */
  readonly commands: () => CommandsMode;
  readonly signal: AbortSignal;
}

export async function openConnection(
  { url, token, isHere }: { readonly url: string; readonly token: string | undefined; readonly isHere: boolean },
  options: ConnectionOptions,
): Promise<ServerConnection | ServerProblem> {
  const transport: Transport = createGrpcWebTransport({
    baseUrl: url,
    interceptors: [...options.interceptors, ...(token === undefined ? [] : [bearerToken(token, options.renewToken)])],
  });
  const clients = { baseUrl: url, transport };
  const agent = connect(clients);
  try {
    const signal = AbortSignal.any([options.signal, AbortSignal.timeout(timeoutMs)]);
    const info = await agent.getServerInfo({}, { signal });
    const { version, protocolVersion } = info;
    if (protocolVersion < spokenProtocol) return { type: "server-old", url, version };
    if (protocolVersion > spokenProtocol) return { type: "server-new", url, version };
    const problem = lackingIsolation(info, options.commands());
    if (problem !== undefined) return { type: "server-weak", url, problem };
    return {
      url,
      version,
      isHere,
      transport,
      agent,
      governance: connectGovernance(clients),
      plans: connectPlans(clients),
    };
  } catch (error) {
    options.signal.throwIfAborted();
    return problemOf(url, error);
  }
}

/** True if the server still answers. */
export async function answers({ agent }: Pick<ServerConnection, "agent">): Promise<boolean> {
  try {
    await agent.getServerInfo({}, { signal: AbortSignal.timeout(timeoutMs) });
    return true;
  } catch {
    return false;
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
