import type { BlobRef } from "./session-event.ts";

export type ChangeOperation = "create" | "update" | "delete";

/** Changes shown to the user, none of them written. */
export interface Proposal {
  readonly proposalId: string;
  readonly toolCallId: string;
  readonly changes: readonly ProposedChange[];
  readonly hasConflicts: boolean;
  readonly warnings: readonly string[];
}

export interface ProposedChange {
  readonly id: string;
  readonly path: string;
  readonly operation: ChangeOperation;
  readonly unifiedDiff: string;
  /** The text after the change; empty for a delete, and when only the blob has it. */
  readonly newContent: string;
  readonly newContentBlob?: BlobRef;
  /** SHA-256 of the bytes the change is based on; empty when the file must not exist. */
  readonly baseSha256: string;
  readonly baseBlob?: BlobRef;
  readonly conflict: boolean;
  readonly warning: string;
  readonly hunks: readonly Hunk[];
}

export interface Hunk {
  readonly id: string;
  readonly oldRange: LineRange;
  readonly newRange: LineRange;
  /** With their leading ' ', '+' or '-'. */
  readonly lines: readonly string[];
}

export interface LineRange {
  /** 1-based; the line before when `count` is 0. */
  readonly start: number;
  readonly count: number;
}

export interface ProposalReview {
  readonly proposalId: string;
  readonly hunks: readonly ReviewedHunk[];
  readonly note: string;
}

export interface ReviewedHunk {
  readonly changeId: string;
  /** Empty: the decision is about the whole change. */
  readonly hunkId: string;
  readonly decision: "keep" | "undo" | "edited";
  readonly editedText: string;
  readonly note: string;
}

/** One file of a change set, with what undo needs. */
export interface FileChangeRecord {
  readonly path: string;
  readonly operation: ChangeOperation;
  /** undefined: the file did not exist. */
  readonly beforeSha256?: string;
  /** undefined: the file is gone. */
  readonly afterSha256?: string;
  /** Permission bits, where they are known. */
  readonly beforeMode?: number;
  readonly afterMode?: number;
  /** True for a symbolic link: its content is where it points to. */
  readonly beforeLink?: boolean;
  readonly afterLink?: boolean;
  /** Directories that had to be made for it, outermost first. */
  readonly madeDirectories?: readonly string[];
}
