import { timestampMs } from "@bufbuild/protobuf/wkt";
import { CheckpointKind } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { SkipReason } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { type AppliedFile, appliedFileFromMessage } from "@gennai/protocol/model/proposal";
import type { AgentClient } from "../connection/connection.ts";

/** A point before something was done to files. */
export interface Checkpoint {
  readonly checkpointId: string;
  readonly kind: "turn" | "command" | "restore";
  /** From 1; 0 outside of a turn. */
  readonly turnNumber: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** What the user asked for in the turn, or the name of the tool; empty where neither is. */
  readonly title: string;
  /** What was changed between this point and the next of its kind; the first of them. */
  readonly files: readonly Pick<AppliedFile, "path" | "operation">[];
  readonly moreFiles: number;
  /** False: what was kept is gone, and it cannot be restored. */
  readonly kept: boolean;
}

export interface CheckpointList {
  /** Oldest first. */
  readonly checkpoints: readonly Checkpoint[];
  /** Why what commands change cannot be taken back now; empty when it can. */
  readonly problem: string;
}

/** A file that a restore leaves as it is. */
export interface SkippedFile {
  readonly path: string;
  readonly reason: "changed_since" | "changed_between" | "not_certain" | "not_restored";
}

export interface Restored {
  /** Restoring this takes the restoring back; empty when nothing was written. */
  readonly restoreId: string;
  readonly files: readonly AppliedFile[];
  readonly skipped: readonly SkippedFile[];
  /** Of a dry run: lines that it would put in and take out, by path, where they can be counted. */
  readonly lines: ReadonlyMap<string, { readonly added: number; readonly removed: number }>;
}

export interface RestoreRequest {
  readonly sessionId: string;
  readonly checkpointId: string;
  /** Files or directories, relative to the workspace; none: all that was changed since. */
  readonly paths?: readonly string[];
  /** Only says what would be done. */
  readonly dryRun?: boolean;
  /** Restores the named files also where somebody else changed them since. */
  readonly force?: boolean;
}

interface CallOptions {
  readonly signal: AbortSignal;
}

export async function listCheckpoints(
  client: Pick<AgentClient, "listCheckpoints">,
  sessionId: string,
  { signal }: CallOptions,
): Promise<CheckpointList> {
  const { checkpoints, problem } = await client.listCheckpoints({ sessionId }, { signal });
  return {
    problem,
    checkpoints: checkpoints.map(({ checkpointId, kind, turnNumber, time, title, files, moreFiles, kept }) => ({
      checkpointId,
      turnNumber,
      title,
      moreFiles,
      kept,
      kind: kinds.get(kind) ?? "command",
      time: time === undefined ? 0 : timestampMs(time),
      files: files.map(appliedFileFromMessage),
    })),
  };
}

/**
 * Takes back what the session did to files since a checkpoint. What somebody else changed is skipped. Throws `ConnectError`;
 * its `ErrorInfo` says why and what to do.
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
    skipped: skipped.map(({ path, reason }) => ({ path, reason: reasons.get(reason) ?? "not_certain" })),
    lines: new Map(lines.map(({ path, added, removed }) => [path, { added, removed }])),
  };
}

/** Why a file is left as it is, for a person. */
export const skipReasons: Readonly<Record<SkippedFile["reason"], string>> = {
  changed_since: "changed since, not by the agent",
  changed_between: "changed by somebody else between two of the agent's changes",
  not_certain: "it is not known what was there before, or who changed it while a command ran",
  not_restored: "it could not be written",
};

const kinds = new Map<CheckpointKind, Checkpoint["kind"]>([
  [CheckpointKind.TURN, "turn"],
  [CheckpointKind.COMMAND, "command"],
  [CheckpointKind.RESTORE, "restore"],
]);

const reasons = new Map<SkipReason, SkippedFile["reason"]>([
  [SkipReason.CHANGED_SINCE, "changed_since"],
  [SkipReason.CHANGED_BETWEEN, "changed_between"],
  [SkipReason.NOT_CERTAIN, "not_certain"],
  [SkipReason.NOT_RESTORED, "not_restored"],
]);
