import {
  type CallTrace,
  callTraceFromMessage,
  type LineTrace,
  lineTraceFromMessage,
  mostTracedBytes,
} from "@gennai/protocol/model/governance/line-trace";
import type { GovernanceClient } from "../connection/connection.ts";

/** A file as the client that asks has it, saved or not. */
export interface TextToTrace {
  /** Relative to the workspace, with slashes. */
  readonly path: string;
  readonly text: string;
}

/**
 * Which recorded write each line of a text came from. undefined for a text that is too long to be asked about. Rejects with
 * `ConnectError`. @param sessionId empty: the default workspace
 */
export async function traceLines(
  client: Pick<GovernanceClient, "traceLines">,
  { sessionId, path, text }: TextToTrace & { readonly sessionId: string },
  options: { readonly signal: AbortSignal },
): Promise<LineTrace | undefined> {
  if (new TextEncoder().encode(text).length > mostTracedBytes) return undefined;
  return lineTraceFromMessage(await client.traceLines({ sessionId, path, text }, options));
}

/** Where lines that a call wrote stand today. Rejects with `ConnectError`. */
export async function traceCall(
  client: Pick<GovernanceClient, "traceCall">,
  call: { readonly sessionId: string; readonly turnId: string; readonly callId: string },
  options: { readonly signal: AbortSignal },
): Promise<CallTrace> {
  return callTraceFromMessage(await client.traceCall({ ...call }, options));
}
