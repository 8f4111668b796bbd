import type { ToolResult } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { ClientIdentity } from "../connection/client-identity.ts";
import type { AgentClient } from "../connection/connection.ts";
import { subscribe } from "./subscription.ts";
import { StreamedText } from "./text/streamed-text.ts";

/** A call of a turn. */
export interface WatchedCallName {
  readonly sessionId: string;
  readonly turnId: string;
  readonly callId: string;
  /** A place in the log before the call printed anything. */
  readonly afterSeq: bigint;
}

/**
 * Output of a call, from its beginning until it has ended.
 * @param options.identity of a client that only watches
 * @returns how it ended, e.g. `exit code 1`
 */
export async function* callOutput(
  client: AgentClient,
  { sessionId, turnId, callId, afterSeq }: WatchedCallName,
  { identity, signal }: { readonly identity: ClientIdentity; readonly signal: AbortSignal },
): AsyncGenerator<string, string> {
  const { clientId, name, version } = identity;
  const watcher = { clientId: `${clientId}-watch`, name, version };
  const printed = new StreamedText();
  const meant = { sessionId, afterSeq, untilTurnId: turnId, identity: watcher, signal };
  for await (const { event, turnId: ofTurn, firstSeq, seq } of subscribe(client, meant)) {
    if (ofTurn !== turnId) continue;
    if (event.case === "toolOutputDelta" && event.value.id === callId) {
      const text = printed.add({ firstSeq: firstSeq === 0n ? seq : firstSeq, text: event.value.text });
      if (text !== "") yield text;
    }
    if (event.case !== "toolResult" || event.value.id !== callId) continue;
    if (printed.text === "" && event.value.output !== "") yield event.value.output;
    return endOf(event.value);
  }
  return "its turn has ended";
}

function endOf({ error, exitCode }: ToolResult): string {
  if (exitCode !== undefined) return `exit code ${exitCode}`;
  return error.split("\n", 1)[0] || "it is not known how";
}
