import { type HunkDecision, wholeChange } from "@gennai/protocol/apply-review";
import { isRecord } from "@gennai/protocol/json-value";
import type { Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import { otherHalf } from "@gennai/protocol/whole-moves";
import type { ReviewToApply } from "./window-requests.ts";

export type ReviewLayout = "auto" | "unified" | "side-by-side";

/** The user's decisions about a proposal so far. JSON, kept over a reload. */
export interface ReviewState {
  readonly proposalId: string;
  /** By change id, then by hunk id; `wholeChange` for a change without hunks. */
  readonly decisions: Readonly<Record<string, Readonly<Record<string, HunkDecision>>>>;
  readonly note: string;
  readonly layout: ReviewLayout;
}

export interface ReviewCounts {
  readonly total: number;
  readonly kept: number;
  readonly undone: number;
  readonly edited: number;
  readonly open: number;
}

export function newReview(proposalId: string): ReviewState {
  return { proposalId, decisions: {}, note: "", layout: "auto" };
}

/** The ids that decisions of a change go by: its hunks, or the change as a whole where that is a delete or a rename. */
export function decidableIds({
  hunks,
  operation,
  movedFrom,
}: Pick<ProposedChange, "hunks" | "operation" | "movedFrom">): readonly string[] {
  const isWhole = hunks.length === 0 || operation === "delete" || movedFrom !== undefined;
  return isWhole ? [wholeChange] : hunks.map(({ id }) => id);
}

/** Without what a rename deletes at its old path: the new path's decision is that of both. */
export function ownDecisions(changes: readonly ProposedChange[]): readonly ProposedChange[] {
  return changes.filter((change) => change.operation !== "delete" || otherHalf(change, changes) === undefined);
}

/** The decisions alone. */
export type Decided = Pick<ReviewState, "decisions">;

export function decisionFor(state: Decided, changeId: string, hunkId: string): HunkDecision | undefined {
  return own(own(state.decisions, changeId) ?? {}, hunkId);
}

/** Decides, and of a move its other half as well. undefined takes the decision back. */
export function decideWhole(
  state: ReviewState,
  changes: readonly ProposedChange[],
  changeId: string,
  hunkIds: readonly string[],
  decision: HunkDecision | undefined,
): ReviewState {
  const next = decide(state, changeId, hunkIds, decision);
  const change = changes.find(({ id }) => id === changeId);
  const other = change && otherHalf(change, changes);
  if (other === undefined) return next;
  return decide(next, other.id, decidableIds(other), decision?.type === "edited" ? { type: "keep" } : decision);
}

/** undefined takes the decision back. */
export function decide(
  state: ReviewState,
  changeId: string,
  hunkIds: readonly string[],
  decision: HunkDecision | undefined,
): ReviewState {
  const entries = new Map(Object.entries(own(state.decisions, changeId) ?? {}));
  for (const id of hunkIds) {
    if (decision === undefined) entries.delete(id);
    else entries.set(id, decision);
  }
  return { ...state, decisions: { ...state.decisions, [changeId]: Object.fromEntries(entries) } };
}

/** The same decision for several changes: those without one, or, with `all`, everything but edits. */
export function decideMany(
  state: ReviewState,
  changes: readonly ProposedChange[],
  decision: HunkDecision,
  options: { readonly blocked: ReadonlySet<string> },
): ReviewState {
  let next = state;
  for (const change of changes) {
    if (decision.type !== "undo" && options.blocked.has(change.id)) continue;
    const ids = decidableIds(change).filter(
      (id) => decision.type === "undo" || decisionFor(next, change.id, id)?.type !== "edited",
    );
    next = decide(next, change.id, ids, decision);
  }
  return next;
}

export function countDecisions(state: Decided, changes: readonly ProposedChange[]): ReviewCounts {
  const counts = { total: 0, kept: 0, undone: 0, edited: 0, open: 0 };
  for (const change of ownDecisions(changes)) {
    for (const id of decidableIds(change)) {
      counts.total++;
      const type = decisionFor(state, change.id, id)?.type;
      if (type === "keep") counts.kept++;
      else if (type === "undo") counts.undone++;
      else if (type === "edited") counts.edited++;
      else counts.open++;
    }
  }
  return counts;
}

/**
 * The decisions of an applied review, replacing the present ones. An edit made elsewhere is unknown here, so its hunk has no
 * decision.
 */
export function carriedOut(
  state: ReviewState,
  hunks: readonly { readonly changeId: string; readonly hunkId: string; readonly decision: HunkDecision["type"] }[],
): ReviewState {
  let next: ReviewState = { ...state, decisions: {} };
  for (const { changeId, hunkId, decision } of hunks) {
    const here = decisionFor(state, changeId, hunkId);
    const stands = decision !== "edited" ? { type: decision } : here?.type === "edited" ? here : undefined;
    next = decide(next, changeId, [hunkId], stands);
  }
  return next;
}

/** The review to send: every hunk with its decision; without one it is not kept, unless `undecided` says so. */
export function reviewToApply(
  state: ReviewState,
  proposal: Proposal,
  sessionId: string,
  undecided: "keep" | "undo" = "undo",
): ReviewToApply {
  const hunks = proposal.changes.flatMap((change) =>
    decidableIds(change).map((hunkId) => ({
      changeId: change.id,
      hunkId,
      decision: decisionFor(state, change.id, hunkId) ?? { type: undecided },
    })),
  );
  return { sessionId, proposalId: proposal.proposalId, hunks, note: state.note.trim() };
}

/** A stored state, if it is valid and for this proposal; otherwise a new one. */
export function reviewFromJson(value: unknown, proposal: Proposal): ReviewState {
  const fresh = newReview(proposal.proposalId);
  if (!isRecord(value) || value["proposalId"] !== proposal.proposalId) return fresh;
  const { decisions, note, layout } = value;
  let state: ReviewState = {
    ...fresh,
    note: typeof note === "string" ? note : "",
    layout: layout === "unified" || layout === "side-by-side" ? layout : "auto",
  };
  if (!isRecord(decisions)) return state;
  for (const change of proposal.changes) {
    const kept = own(decisions, change.id);
    if (!isRecord(kept)) continue;
    for (const id of decidableIds(change)) {
      const decision = decisionFromJson(own(kept, id));
      if (decision !== undefined) state = decide(state, change.id, [id], decision);
    }
  }
  return state;
}

function decisionFromJson(value: unknown): HunkDecision | undefined {
  if (!isRecord(value)) return undefined;
  const { type, text } = value;
  if (type === "keep" || type === "undo") return { type };
  return type === "edited" && typeof text === "string" ? { type, text } : undefined;
}

/** Ids come from a server: `__proto__` is a possible one. */
function own<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
