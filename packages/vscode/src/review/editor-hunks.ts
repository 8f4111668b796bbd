import type { ReviewState } from "@gennai/client/host/review-state";
import type { Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import type { DocumentSubject } from "../documents/content-documents.ts";
import type { ProposalText } from "../documents/proposal-diff.ts";
import type { HunkOrigin } from "./hunk-words.ts";
import { type HunkMark, type ProposalSide, proposedHunks, type ShownHunk, writtenHunks } from "./shown-hunk.ts";
import type { UnseenFile } from "./unseen-file.ts";

/** The hunks of the agent's work that a document shows. */
export interface DocumentHunks {
  readonly origin: HunkOrigin;
  /** Relative to the workspace. */
  readonly path: string;
  /** In order of lines. */
  readonly hunks: readonly ShownHunk[];
  readonly proposed?: ProposedText;
  readonly written?: UnseenFile;
}

export interface ProposedText {
  readonly proposal: Proposal;
  readonly change: ProposedChange;
  readonly side: ProposalSide;
}

export interface EditorHunksOptions {
  /** Proposals that wait for review, newest last. */
  readonly proposals: () => ReadonlyMap<string, Proposal>;
  readonly reviewOf: (proposal: Proposal) => ReviewState;
  readonly textOf: (proposal: Proposal, change: ProposedChange) => ProposalText | undefined;
  readonly unseenOf: (path: string) => UnseenFile | undefined;
}

/** The hunks of a document: of a proposal that waits for review, else of the agent's changes. undefined: there are none. */
export function documentHunks(
  options: EditorHunksOptions,
  subject: DocumentSubject,
  now: string,
): DocumentHunks | undefined {
  const proposed = proposedPlace(options.proposals(), subject);
  if (proposed !== undefined) {
    const { proposal, change, side } = proposed;
    const text = options.textOf(proposal, change);
    if (text === undefined) return undefined;
    const hunks = proposedHunks(change, options.reviewOf(proposal), side, { side: text[side], now });
    return { origin: "proposed", path: change.path, hunks, proposed };
  }
  if (subject.type !== "file") return undefined;
  const file = options.unseenOf(subject.path);
  if (file === undefined) return undefined;
  return { origin: "written", path: subject.path, hunks: writtenHunks(file, now), written: file };
}

/**
 * True if there is a hunk to move to.
 * @param countIn number of hunks in a file's document; undefined: it is not open
 */
export function hasAnyHunk(
  proposals: Iterable<Proposal>,
  unseen: readonly UnseenFile[],
  countIn: (path: string) => number | undefined,
): boolean {
  for (const { changes } of proposals) {
    if (changes.some(({ hunks, operation }) => hunks.length > 0 || operation === "delete")) return true;
  }
  return unseen.some(({ path }) => countIn(path) !== 0);
}

function proposedPlace(proposals: ReadonlyMap<string, Proposal>, subject: DocumentSubject): ProposedText | undefined {
  if (subject.type === "proposed") {
    const proposal = proposals.get(subject.proposalId);
    const change = proposal?.changes.find(({ id }) => id === subject.changeId);
    return proposal === undefined || change === undefined ? undefined : { proposal, change, side: "fresh" };
  }
  for (const proposal of [...proposals.values()].reverse()) {
    const change = proposal.changes.find(({ path }) => path === subject.path);
    if (change !== undefined) return { proposal, change, side: "base" };
  }
  return undefined;
}

/** The hunk at a line: its actions are above the line, or one of its marks is on it. undefined: there is none. */
export function hunkAt(hunks: readonly ShownHunk[], line: number): ShownHunk | undefined {
  const isMarked = ({ span }: HunkMark) => span.start <= line && line <= Math.max(span.start, span.end - 1);
  return hunks.find((hunk) => hunk.line === line || hunk.marks.some(isMarked));
}

/** The next hunk below a line, or the next above. undefined: there is none in this document. */
export function hunkBeside(hunks: readonly ShownHunk[], line: number, distance: 1 | -1): ShownHunk | undefined {
  return distance === 1 ? hunks.find((hunk) => hunk.line > line) : hunks.findLast((hunk) => hunk.line < line);
}
