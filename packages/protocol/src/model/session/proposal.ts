import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type AppliedFile as AppliedFileMessage,
  type AppliedFileSchema,
  type BlobRef as BlobRefMessage,
  type BlobRefSchema,
  ChangeOperation as ChangeOperationMessage,
  HunkDecision,
  type ProposedChange as ProposedChangeMessage,
  type ProposedChangeSchema,
  type ProposedChanges,
} from "../../gen/gennai/agent/v1/event_pb.ts";
import { digest } from "../checked-field.ts";
import { EnumWords } from "../enum-words.ts";

const operationWords = new EnumWords({
  create: ChangeOperationMessage.CREATE,
  update: ChangeOperationMessage.UPDATE,
  delete: ChangeOperationMessage.DELETE,
});

/** What a person decided about a hunk. */
export const hunkDecisionWords = new EnumWords({
  keep: HunkDecision.KEEP,
  undo: HunkDecision.UNDO,
  edited: HunkDecision.EDITED,
});

export type ChangeOperation = (typeof operationWords.words)[number];

/** Content that is stored once, by its digest. */
export interface BlobRef {
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
  readonly mediaType: string;
}

/** Changes shown to the user, none of them written. */
export interface Proposal {
  readonly proposalId: string;
  readonly toolCallId: string;
  readonly changes: readonly ProposedChange[];
  readonly hasConflicts: boolean;
  readonly warnings: readonly string[];
}

export interface ProposedChange {
  /** Within the proposal. */
  readonly id: string;
  /** Relative to the workspace, with forward slashes. */
  readonly path: string;
  readonly operation: ChangeOperation;
  readonly unifiedDiff: string;
  /** The whole text after the change; empty for a delete, and when only the blob has it. */
  readonly newContent: string;
  /** The new text, when `newContent` does not hold it. */
  readonly newContentBlob?: BlobRef;
  /** SHA-256 of the bytes the change is based on; empty when the file must not exist. */
  readonly baseSha256: string;
  /** The text the change is based on; absent when it was not kept, or there was none. */
  readonly baseBlob?: BlobRef;
  readonly conflict: boolean;
  readonly warning: string;
  readonly hunks: readonly Hunk[];
  /** Permission bits after the change; absent: those of the file, or the usual ones of a new file. */
  readonly newMode?: number;
  /** What is there, before or after, is no text: it has no hunks. */
  readonly binary?: boolean;
  /** Commands that made a part of it, in the order in which they ran; absent when only file tools did. */
  readonly commands?: readonly string[];
  /** Path of the file that it was. */
  readonly movedFrom?: string;
}

/** Only the server can write it: no editor writes permission bits, and what is not text. */
export function isBeyondText({ newMode, binary }: Pick<ProposedChange, "newMode" | "binary">): boolean {
  return newMode !== undefined || binary === true;
}

export interface Hunk {
  readonly id: string;
  readonly oldRange: LineRange;
  readonly newRange: LineRange;
  /** With their leading ' ', '+' or '-'. */
  readonly lines: readonly string[];
  /** Commands that made it, in the order in which they ran; absent when only file tools did. */
  readonly commands?: readonly string[];
}

export interface LineRange {
  /** 1-based; the line before when `count` is 0. */
  readonly start: number;
  readonly count: number;
}

/** A file as a change set left it. */
export interface AppliedFile {
  readonly path: string;
  readonly operation: ChangeOperation;
  /** undefined: the file did not exist. */
  readonly beforeSha256?: string | undefined;
  /** undefined: the file is gone. */
  readonly afterSha256?: string | undefined;
}

export function proposalFromMessage(message: ProposedChanges): Proposal {
  const { proposalId, toolCallId, changes, hasConflicts, warnings } = message;
  return { proposalId, toolCallId, changes: changes.map(changeFromMessage), hasConflicts, warnings };
}

export function changeToMessage(change: ProposedChange): MessageInitShape<typeof ProposedChangeSchema> {
  const { newContentBlob, baseBlob, hunks, operation, commands = [], ...rest } = change;
  return {
    ...rest,
    operation: operationWords.toMessage(operation),
    hunks: hunks.map((hunk) => ({ ...hunk, lines: [...hunk.lines], commands: [...(hunk.commands ?? [])] })),
    commands: [...commands],
    ...(newContentBlob === undefined ? {} : { newContentBlob: blobToMessage(newContentBlob) }),
    ...(baseBlob === undefined ? {} : { baseBlob: blobToMessage(baseBlob) }),
  };
}

/** An operation that is not known here is an update: its base is checked before anything is written. */
export function changeFromMessage(message: ProposedChangeMessage): ProposedChange {
  const { id, path, unifiedDiff, newContent, newContentBlob, baseSha256, baseBlob, conflict, warning } = message;
  const { newMode, binary, commands, movedFrom } = message;
  return {
    id,
    path,
    operation: operationWords.fromMessage(message.operation) ?? "update",
    unifiedDiff,
    newContent,
    ...(newContentBlob === undefined ? {} : { newContentBlob: blobFromMessage(newContentBlob) }),
    baseSha256,
    ...(baseBlob === undefined ? {} : { baseBlob: blobFromMessage(baseBlob) }),
    conflict,
    warning,
    ...(newMode === 0 ? {} : { newMode }),
    ...(binary ? { binary } : {}),
    ...(commands.length === 0 ? {} : { commands }),
    ...(movedFrom === "" ? {} : { movedFrom }),
    hunks: message.hunks.map((hunk) => ({
      id: hunk.id,
      oldRange: { start: hunk.oldRange?.start ?? 0, count: hunk.oldRange?.count ?? 0 },
      newRange: { start: hunk.newRange?.start ?? 0, count: hunk.newRange?.count ?? 0 },
      lines: hunk.lines,
      ...(hunk.commands.length === 0 ? {} : { commands: hunk.commands }),
    })),
  };
}

export function appliedFileToMessage(file: AppliedFile): MessageInitShape<typeof AppliedFileSchema> {
  const { path, operation, beforeSha256 = "", afterSha256 = "" } = file;
  return { path, operation: operationWords.toMessage(operation), beforeSha256, afterSha256 };
}

/** As a server tells it: read leniently. */
export function appliedFileFromMessage(message: AppliedFileMessage): AppliedFile {
  return {
    path: message.path,
    operation: operationWords.fromMessage(message.operation) ?? "update",
    beforeSha256: message.beforeSha256 || undefined,
    afterSha256: message.afterSha256 || undefined,
  };
}

/** As a client reports it. Throws `InvalidField`. */
export function checkedAppliedFile(message: AppliedFileMessage): AppliedFile {
  const { beforeSha256, afterSha256 } = message;
  return {
    path: message.path,
    operation: operationWords.checkedFromMessage(message.operation, "files[].operation"),
    ...(beforeSha256 === "" ? {} : { beforeSha256: digest(beforeSha256) }),
    ...(afterSha256 === "" ? {} : { afterSha256: digest(afterSha256) }),
  };
}

export function blobToMessage(blob: BlobRef): MessageInitShape<typeof BlobRefSchema> {
  return { sha256: blob.sha256, size: BigInt(blob.size), mediaType: blob.mediaType };
}

export function blobFromMessage({ sha256, size, mediaType }: BlobRefMessage): BlobRef {
  return { sha256, size: Number(size), mediaType };
}
