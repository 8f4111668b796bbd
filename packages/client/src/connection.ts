import { type Client, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";

/** The service, typed. Every method throws `ConnectError`. */
export type AgentClient = Client<typeof AgentService>;

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
  const transport =
    options.transport ??
    createGrpcWebTransport({
      baseUrl: options.baseUrl.replace(/\/+$/, ""),
      interceptors: options.token === undefined ? [] : [bearerToken(options.token)],
    });
  return createClient(AgentService, transport);
}

/** Adds the token to every call. A header and never a cookie or a URL: those leak to other ports and into logs. */
function bearerToken(token: string): Interceptor {
  return (next) => (request) => {
    request.header.set("Authorization", `Bearer ${token}`);
    return next(request);
  };
}
