import type { AppliedFile } from "@gennai/protocol/model/session/proposal";

export interface ProposalReview {
  readonly proposalId: string;
  readonly hunks: readonly ReviewedHunk[];
  readonly note: string;
  /** Files that had changed since, with which the kept hunks were merged: what they held right before. */
  readonly onto?: readonly { readonly path: string; readonly sha256: string }[];
}

export interface ReviewedHunk {
  readonly changeId: string;
  /** Empty: the decision covers the whole change. */
  readonly hunkId: string;
  readonly decision: "keep" | "undo" | "edited";
  readonly editedText: string;
  readonly note: string;
}

/** One changed file of a change set, with what is needed to undo it. */
export interface FileChangeRecord extends AppliedFile {
  /** Permission bits, if known. */
  readonly beforeMode?: number;
  readonly afterMode?: number;
  /** True for a symbolic link; its content is the link's target. */
  readonly beforeLink?: boolean;
  readonly afterLink?: boolean;
  /** Directories that were created for the file, outermost first. */
  readonly madeDirectories?: readonly string[];
}

/** A change of a directory itself: it was made, removed, or has other permission bits; undefined where there is none. */
export interface DirectoryChangeRecord {
  readonly path: string;
  readonly beforeMode?: number | undefined;
  readonly afterMode?: number | undefined;
}
