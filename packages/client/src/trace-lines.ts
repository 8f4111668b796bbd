import {
  type CallTrace,
  callTraceFromMessage,
  type LineTrace,
  lineTraceFromMessage,
  mostTracedBytes,
} from "@gennai/protocol/model/governance/line-trace";
import type { CallOptions, GovernanceClient } from "./connection/connection.ts";

/** A file as the client that asks has it, saved or not. */
export interface TextToTrace {
  /** Relative to the workspace, with slashes. */
  readonly path: string;
  readonly text: string;
}

/**
 * The recorded write of each line of a text. Undefined if the text is too long. Rejects with `ConnectError`. @param sessionId
 * empty: the default workspace
 */
export async function traceLines(
  client: Pick<GovernanceClient, "traceLines">,
  { sessionId, path, text }: TextToTrace & { readonly sessionId: string },
  options: CallOptions,
): Promise<LineTrace | undefined> {
  if (new TextEncoder().encode(text).length > mostTracedBytes) return undefined;
  return lineTraceFromMessage(await client.traceLines({ sessionId, path, text }, options));
}

/** Present places of lines that a call wrote. Rejects with `ConnectError`. */
export async function traceCall(
  client: Pick<GovernanceClient, "traceCall">,
  call: { readonly sessionId: string; readonly turnId: string; readonly callId: string },
  options: CallOptions,
): Promise<CallTrace> {
  return callTraceFromMessage(await client.traceCall({ ...call }, options));
}
