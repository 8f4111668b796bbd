import { type Client, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { GovernanceService } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";

/** The service, typed. Every method throws `ConnectError`. */
export type AgentClient = Client<typeof AgentService>;

/** What governs the agent, typed. Every method throws `ConnectError`. */
export type GovernanceClient = Client<typeof GovernanceService>;

export interface ConnectOptions {
  /** Where the server listens, e.g. `http://127.0.0.1:7777`. */
  readonly baseUrl: string;
  /** Sent as `Authorization: Bearer …`; left out for a server without authentication. */
  readonly token?: string;
  /** Used in place of gRPC-Web over fetch. It must bring its own credentials. */
  readonly transport?: Transport;
}

/** Makes a client. Opens nothing: the first call does. */
export function connect(options: ConnectOptions): AgentClient {
  return createClient(AgentService, transportTo(options));
}

/** The same for what governs the agent. */
export function connectGovernance(options: ConnectOptions): GovernanceClient {
  return createClient(GovernanceService, transportTo(options));
}

function transportTo({ transport, baseUrl, token }: ConnectOptions): Transport {
  if (transport !== undefined) return transport;
  return createGrpcWebTransport({
    baseUrl: baseUrl.replace(/\/+$/, ""),
    interceptors: token === undefined ? [] : [bearerToken(token)],
  });
}

/** Adds the token to every call. A header and never a cookie or a URL: those leak to other ports and into logs. */
function bearerToken(token: string): Interceptor {
  return (next) => (request) => {
    request.header.set("Authorization", `Bearer ${token}`);
    return next(request);
  };
}
