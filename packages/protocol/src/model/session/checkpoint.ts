import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import {
  CheckpointKind,
  type Checkpoint as CheckpointMessage,
  type CheckpointSchema,
} from "../../gen/gennai/agent/v1/agent_pb.ts";
import { type SkippedFile as SkippedFileMessage, SkipReason } from "../../gen/gennai/agent/v1/event_pb.ts";
import { EnumWords } from "../enum-words.ts";
import { type AppliedFile, appliedFileFromMessage, appliedFileToMessage } from "./proposal.ts";

const kindWords = new EnumWords({
  turn: CheckpointKind.TURN,
  command: CheckpointKind.COMMAND,
  restore: CheckpointKind.RESTORE,
});

/**
 * `changed_since`: not as the agent left it. `changed_between`: someone else changed it between two of the agent's changes.
 * `not_certain`: who changed it is unknown. `not_restored`: it could not be written. `not_kept`: what was there before, or what
 * has been moved away from there, would be lost.
 */
const skipWords = new EnumWords({
  changed_since: SkipReason.CHANGED_SINCE,
  changed_between: SkipReason.CHANGED_BETWEEN,
  not_certain: SkipReason.NOT_CERTAIN,
  not_restored: SkipReason.NOT_RESTORED,
  not_kept: SkipReason.NOT_KEPT,
});

/** A point before something was done to files. */
export interface Checkpoint {
  readonly checkpointId: string;
  readonly kind: (typeof kindWords.words)[number];
  /** From 1; 0 outside of a turn. */
  readonly turnNumber: number;
  readonly turnId: string;
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

/** What a list says of a checkpoint behind its title, in a few words each. */
export function notesOf({ kept }: Checkpoint): readonly string[] {
  return kept ? [] : ["no longer kept"];
}

/** A file that a restore leaves as it is. */
export interface SkippedFile {
  readonly path: string;
  readonly reason: (typeof skipWords.words)[number];
}

/** Files of one checkpoint in a list. */
const maxFiles = 200;

/** Fields of the same name and type go as they are. */
export function checkpointToMessage(checkpoint: Checkpoint): MessageInitShape<typeof CheckpointSchema> {
  const { kind, time, files, moreFiles, ...others } = checkpoint;
  return {
    ...others,
    kind: kindWords.toMessage(kind),
    time: timestampFromMs(time),
    files: files.slice(0, maxFiles).map(appliedFileToMessage),
    moreFiles: moreFiles + Math.max(0, files.length - maxFiles),
  };
}

/** As a server tells it: read leniently. */
export function checkpointFromMessage(message: CheckpointMessage): Checkpoint {
  const { checkpointId, kind, turnNumber, turnId, time, title, files, moreFiles, kept } = message;
  return {
    checkpointId,
    turnNumber,
    turnId,
    title,
    moreFiles,
    kept,
    kind: kindWords.fromMessage(kind) ?? "command",
    time: time === undefined ? 0 : timestampMs(time),
    files: files.map(appliedFileFromMessage),
  };
}

export function skippedFileToMessage({ path, reason }: SkippedFile) {
  return { path, reason: skipWords.toMessage(reason) };
}

export function skippedFileFromMessage({ path, reason }: SkippedFileMessage): SkippedFile {
  return { path, reason: skipWords.fromMessage(reason) ?? "not_certain" };
}
