import {
  type Checkpoint,
  checkpointFromMessage,
  type SkippedFile,
  skippedFileFromMessage,
} from "@gennai/protocol/model/session/checkpoint";
import { type AppliedFile, appliedFileFromMessage } from "@gennai/protocol/model/session/proposal";
import type { AgentClient, CallOptions } from "../connection/connection.ts";

export interface CheckpointList {
  /** Oldest first. */
  readonly checkpoints: readonly Checkpoint[];
  /** Why what commands change cannot be taken back now; empty when it can. */
  readonly problem: string;
}

export interface Restored {
  /** Restoring this takes the restoring back; empty when nothing was written. */
  readonly restoreId: string;
  readonly files: readonly AppliedFile[];
  readonly skipped: readonly SkippedFile[];
  /** Dry run only: lines added and removed, by path, if they can be counted. */
  readonly lines: ReadonlyMap<string, { readonly added: number; readonly removed: number }>;
}

export interface RestoreRequest {
  readonly sessionId: string;
  readonly checkpointId: string;
  /** Files or directories, relative to the workspace; none: all that was changed since. */
  readonly paths?: readonly string[];
  /** Only says what would be done. */
  readonly dryRun?: boolean;
  /** Also restores named files that others changed since. */
  readonly force?: boolean;
}

export async function listCheckpoints(
  client: Pick<AgentClient, "listCheckpoints">,
  sessionId: string,
  { signal }: CallOptions,
): Promise<CheckpointList> {
  const { checkpoints, problem } = await client.listCheckpoints({ sessionId }, { signal });
  return {
    problem,
    checkpoints: checkpoints.map(checkpointFromMessage),
  };
}

/**
 * Reverts the session's file changes since a checkpoint. Files changed by others are skipped. Throws `ConnectError`; its
 * `ErrorInfo` says why and what to do.
 */
export async function restoreCheckpoint(
  client: Pick<AgentClient, "restoreCheckpoint">,
  request: RestoreRequest,
  { signal }: CallOptions,
): Promise<Restored> {
  const { sessionId, checkpointId, paths = [], dryRun = false, force = false } = request;
  const fields = { sessionId, checkpointId, paths: [...paths], dryRun, force };
  const { restoreId, files, skipped, lines } = await client.restoreCheckpoint(fields, { signal });
  return {
    restoreId,
    files: files.map(appliedFileFromMessage),
    skipped: skipped.map(skippedFileFromMessage),
    lines: new Map(lines.map(({ path, added, removed }) => [path, { added, removed }])),
  };
}

/** Why a file is left as it is, for a person. */
export const skipReasons: Readonly<Record<SkippedFile["reason"], string>> = {
  changed_since: "changed since, not by the agent",
  changed_between: "changed by somebody else between two of the agent's changes",
  not_certain: "it is not known who changed it while a command ran",
  not_restored: "it could not be written",
  not_kept: "what was there before was too large to keep, or is no longer kept",
};

/** Files that stay as they are, for a person who is asked about the rest; a line each. */
export function stayingLines(skipped: readonly SkippedFile[]): readonly string[] {
  return skipped.map(({ path, reason }) => `${path}: ${skipReasons[reason]}`);
}

/** Whether a skipped file goes back if a person names it with force. */
export function goesBackByForce({ reason }: SkippedFile): boolean {
  return reason !== "not_restored" && reason !== "not_kept";
}
