import type { AppliedFile } from "@gennai/protocol/model/session/proposal";

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
export interface FileChangeRecord extends AppliedFile {
  /** Permission bits, where they are known. */
  readonly beforeMode?: number;
  readonly afterMode?: number;
  /** True for a symbolic link: its content is where it points to. */
  readonly beforeLink?: boolean;
  readonly afterLink?: boolean;
  /** Directories that had to be made for it, outermost first. */
  readonly madeDirectories?: readonly string[];
}
