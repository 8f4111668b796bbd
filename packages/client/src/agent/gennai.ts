import { connect } from "../connection/connection.ts";
import { proveServer } from "../connection/prove-server.ts";
import { Agent } from "./agent.ts";
import { AgentError } from "./agent-error.ts";
import type { AgentOptions } from "./agent-options.ts";

export type { HunkDecision } from "@gennai/protocol/apply-review";
export type { ErrorCode } from "@gennai/protocol/errors/error-code";
export type {
  ConfirmationScope,
  OfferedPart,
  OfferedPattern,
  Question,
} from "@gennai/protocol/model/governance/question";
export type { Hunk, Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
export type { UserAnswer, UserQuestion, UserReply } from "@gennai/protocol/model/session/user-question";
export type { ConfirmationReply } from "../connection/editor.ts";
export type { TurnOutcome } from "../session/turn-state.ts";
export type { UsageMeter } from "../session/usage-meter.ts";
export type { ChangedFiles, Decide } from "./agent.ts";
export { Agent } from "./agent.ts";
export { AgentError } from "./agent-error.ts";
export type * from "./agent-event.ts";
export type * from "./agent-options.ts";

/** A server that is reached over the network: gRPC-Web, which browsers speak as well. */
export interface ServerAddress {
  /** E.g. `https://agent.example` or `http://127.0.0.1:7777`. A page needs `--allow-origin` there. */
  readonly server: string;
  /** Left out for a server without authentication. Over http the server proves first that it knows it. */
  readonly token?: string;
}

/** Begins a session on a server, or goes on with one. Rejects with `AgentError`. */
export async function gennai(options: AgentOptions & ServerAddress): Promise<Agent> {
  const { server, token, ...rest } = options;
  if (token !== undefined && new URL(server).protocol !== "https:") {
    const { type } = await proveServer(server, token, { signal: rest.signal });
    if (type === "nobody") throw new AgentError(`Nothing answers at ${server}.`, { code: "unavailable" });
    if (type !== "proven") {
      throw new AgentError(`${server} does not prove that it knows this token.`, { code: "unauthenticated" });
    }
  }
  const client = connect({ baseUrl: server, ...(token === undefined ? {} : { token }) });
  return Agent.open({ client, url: server, [Symbol.asyncDispose]: async () => {} }, rest);
}
