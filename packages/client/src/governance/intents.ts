import {
  type GetGovernanceStatusResponse,
  type Intent as IntentMessage,
  IntentsMode as IntentsModeMessage,
  type ListIntentsResponse,
} from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { type IntentsMode, intentsModeWords } from "@gennai/protocol/model/governance/intents-mode";
import type { CallOptions, GovernanceClient } from "../connection/connection.ts";

/** A piece of work that a session can do under. */
export interface IntentSummary {
  readonly id: string;
  readonly name: string;
  /** As in its file. */
  readonly status: string;
  /** Only such an intent can be selected. */
  readonly selectable: boolean;
}

export interface SessionIntents {
  readonly intents: readonly IntentSummary[];
  /** Problems in their file. */
  readonly warnings: readonly string[];
  /** The one the session works under; undefined when none is selected. */
  readonly active: IntentSummary | undefined;
}

/** The intents of a session's workspace. Rejects with `ConnectError`. */
export async function listIntents(
  client: GovernanceClient,
  sessionId: string,
  options: CallOptions,
): Promise<SessionIntents> {
  const { intents, warnings, activeIntentId } = await client.listIntents({ sessionId }, options);
  const summaries = intents.map(summary);
  return { intents: summaries, warnings, active: summaries.find(({ id }) => id === activeIntentId) };
}

/**
 * SHA-256 of the file of intents, where a person has to accept it before any of them can be selected; empty where that is done, or
 * not needed.
 */
export function intentsToAccept(
  { intentsMode }: Pick<GetGovernanceStatusResponse, "intentsMode">,
  { accepted, sha256 }: Pick<ListIntentsResponse, "accepted" | "sha256">,
): string {
  return intentsMode === IntentsModeMessage.REQUIRED && !accepted ? sha256 : "";
}

/** Like {@link intentsToAccept}, with the server's data. Rejects with `ConnectError`. */
export async function findIntentsToAccept(
  client: GovernanceClient,
  sessionId: string,
  options: CallOptions,
): Promise<string> {
  const [status, listed] = await Promise.all([
    client.getGovernanceStatus({ sessionId }, options),
    client.listIntents({ sessionId }, options),
  ]);
  return intentsToAccept(status, listed);
}

/** Selects a session's intent on behalf of the user. Rejects with `ConnectError` if it cannot be selected. */
export async function selectIntent(
  client: GovernanceClient,
  sessionId: string,
  intentId: string,
  options: CallOptions,
): Promise<IntentSummary> {
  const { intent } = await client.selectIntent({ sessionId, intentId }, options);
  return intent === undefined ? { id: intentId, name: "", status: "", selectable: true } : summary(intent);
}

/**
 * A person read the file of intents that was shown. Rejects with `ConnectError` when it is another one by now.
 *
 * @param sha256 of that file, as `ListIntents` said
 */
export async function acceptIntents(
  client: GovernanceClient,
  sessionId: string,
  sha256: string,
  options: CallOptions,
): Promise<void> {
  await client.acceptIntents({ sessionId, sha256 }, options);
}

/** A person's own switch for the workspace of a session. Resolves with why intents are enforced now, or are not. */
export async function setIntentsMode(
  client: GovernanceClient,
  sessionId: string,
  mode: IntentsMode,
  options: CallOptions,
): Promise<string> {
  const { why } = await client.setIntentsMode({ sessionId, mode: intentsModeWords.toMessage(mode) }, options);
  return why;
}

function summary({ id, name, status, selectable }: IntentMessage): IntentSummary {
  return { id, name, status, selectable };
}
