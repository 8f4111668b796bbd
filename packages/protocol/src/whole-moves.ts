import { type HunkDecision, wholeChange } from "./apply-review.ts";
import type { AppliedFile, ProposedChange } from "./model/session/proposal.ts";

type Part = Pick<ProposedChange, "id" | "path" | "operation" | "movedFrom">;

/** The other half of a move: what is deleted at the old path, or made at the new one. */
export function otherHalf<Change extends Part>(change: Part, changes: readonly Change[]): Change | undefined {
  return change.operation === "delete"
    ? changes.find(({ movedFrom }) => movedFrom === change.path)
    : changes.find(({ operation, path }) => operation === "delete" && path === change.movedFrom);
}

/** Files of a change set that only got another path, each with what was deleted at the old one. Contents that several share tell nothing. */
export function renamedFiles<File extends Pick<AppliedFile, "beforeSha256" | "afterSha256">>(
  files: readonly File[],
): ReadonlyMap<File, File> {
  const made = Map.groupBy(
    files.filter(({ beforeSha256 }) => beforeSha256 === undefined),
    ({ afterSha256 }) => afterSha256,
  );
  const gone = Map.groupBy(
    files.filter(({ afterSha256 }) => afterSha256 === undefined),
    ({ beforeSha256 }) => beforeSha256,
  );
  const renamed = new Map<File, File>();
  for (const [sha256, [file, ...others]] of made) {
    const [old, ...more] = gone.get(sha256) ?? [];
    if (file !== undefined && old !== undefined && others.length + more.length === 0) renamed.set(file, old);
  }
  return renamed;
}

/** One decision of a review, with its place. */
export interface DecidedHunk {
  readonly changeId: string;
  /** `wholeChange`: the decision is about the whole change. */
  readonly hunkId: string;
  readonly decision: HunkDecision;
}

/** Decisions about the hunks of one change, by id. */
export type HunkDecisions = ReadonlyMap<string, HunkDecision>;

/**
 * Decisions by change and hunk, with every move as one: the old path goes exactly if something is kept at the new one. Otherwise
 * a content could be nowhere, or in two places.
 */
export function decisionsByChange(
  changes: readonly Part[],
  hunks: readonly DecidedHunk[],
): ReadonlyMap<string, HunkDecisions> {
  const decisions = new Map(
    changes.map(({ id }): [string, HunkDecisions] => [
      id,
      new Map(hunks.filter(({ changeId }) => changeId === id).map(({ hunkId, decision }) => [hunkId, decision])),
    ]),
  );
  const whole = new Map(decisions);
  for (const change of changes) {
    const made = change.operation === "delete" ? otherHalf(change, changes) : undefined;
    const ofMade = made && decisions.get(made.id);
    if (ofMade !== undefined)
      whole.set(change.id, new Map([[wholeChange, { type: isKept(ofMade) ? "keep" : "undo" }]]));
  }
  return whole;
}

/** Whether any part of a change is to be written. */
export function isKept(decisions: HunkDecisions): boolean {
  return [...decisions.values()].some(({ type }) => type !== "undo");
}
