import { type Client, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { GovernanceService } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { PlanService } from "@gennai/protocol/gen/gennai/agent/v1/plan_pb";
import { callFailure, isUnauthenticated } from "./call-failure.ts";
import { fetchOrHostRefusal } from "./fetch-or-host-refusal.ts";

/** The service, typed. Every method throws `ConnectError`. */
export type AgentClient = Client<typeof AgentService>;

/** The typed client of the governance service. Every method throws `ConnectError`. */
export type GovernanceClient = Client<typeof GovernanceService>;

/** Plans of sessions, typed. Every method throws `ConnectError`. */
export type PlanClient = Client<typeof PlanService>;

/** Of a call. */
export interface CallOptions {
  /** Ends it. */
  readonly signal: AbortSignal;
}

export interface ConnectOptions {
  /** Address of the server, e.g. `http://127.0.0.1:7777`. */
  readonly baseUrl: string;
  /** Sent as `Authorization: Bearer …`; left out for a server without authentication. */
  readonly token?: string;
  /**
   * Gives a new token after a call broke off, before the next one: the address may now belong to another process, which must
   * not see the old token, or to the same server with a new token; also called if the token was refused. Rejects with
   * `ConnectError`; `Unavailable`: call it again later.
   */
  readonly renewToken?: () => Promise<string>;
  /** W3C `traceparent` of the one who calls: the server's spans go on with that trace. */
  readonly traceParent?: string;
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

/** The same for plans. */
export function connectPlans(options: ConnectOptions): PlanClient {
  return createClient(PlanService, transportTo(options));
}

/** A transport shared by several clients: after a broken call, none of them sends the old token. */
export function openTransport(options: ConnectOptions): Transport {
  return transportTo(options);
}

function transportTo({ transport, baseUrl, token, renewToken, traceParent }: ConnectOptions): Transport {
  if (transport !== undefined) return transport;
  return createGrpcWebTransport({
    baseUrl: baseUrl.replace(/\/+$/, ""),
    fetch: fetchOrHostRefusal,
    interceptors: [
      ...(token === undefined ? [] : [bearerToken(token, renewToken ?? (async () => token))]),
      ...(traceParent === undefined ? [] : [tracedBy(traceParent)]),
    ],
  });
}

/** Has the server's spans go on with the trace of the one who calls. */
export function tracedBy(traceParent: string): Interceptor {
  return (next) => (request) => {
    request.header.set("traceparent", traceParent);
    return next(request);
  };
}

/** Adds the token to every call. A header and never a cookie or a URL: those leak to other ports and into logs. */
export function bearerToken(first: string, renew: () => Promise<string>): Interceptor {
  let token: Promise<string> | undefined = Promise.resolve(first);
  const doubt = (error: unknown): void => {
    if (callFailure(error) !== "final" || isUnauthenticated(error)) token = undefined;
  };
  return (next) => async (request) => {
    const attempt = async (): ReturnType<typeof next> => {
      try {
        token ??= renew();
        request.header.set("Authorization", `Bearer ${await token}`);
        const response = await next(request);
        return response.stream ? { ...response, message: watched(response.message, doubt) } : response;
      } catch (error) {
        doubt(error);
        throw error;
      }
    };
    try {
      return await attempt();
    } catch (error) {
      // A call that is refused did nothing. A stream's message is sent once: the one who opened it opens it again.
      if (!isUnauthenticated(error) || request.stream) throw error;
      const used = request.header.get("Authorization");
      token ??= renew();
      if (`Bearer ${await token}` === used) throw error;
      return attempt();
    }
  };
}

async function* watched<Message>(
  messages: AsyncIterable<Message>,
  broke: (error: unknown) => void,
): AsyncGenerator<Message, void> {
  try {
    yield* messages;
  } catch (error) {
    broke(error);
    throw error;
  }
}
