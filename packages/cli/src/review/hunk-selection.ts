import { decidableIds, ownDecisions } from "@gennai/client/host/review-state";
import type { HunkDecision } from "@gennai/protocol/apply-review";
import type { Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import type { DecidedHunk } from "@gennai/protocol/whole-moves";
import { type CliError, usageError } from "../terminal/cli-error.ts";

/** A hunk as a person names it: `src/a.ts#2`. */
export interface NamedHunk {
  readonly name: string;
  readonly change: ProposedChange;
  /** `wholeChange` for a change without hunks, and for a delete, which is kept or refused as a whole. */
  readonly hunkId: string;
}

export function namedHunks(proposal: Proposal): readonly NamedHunk[] {
  return ownDecisions(proposal.changes).flatMap((change) =>
    decidableIds(change).map((hunkId, index) => ({ name: `${change.path}#${index + 1}`, change, hunkId })),
  );
}

/** Decides by options: `keep` names what is kept, `refuse` what is not; with `refuse` alone, the rest is kept. */
export function decideBySelection(
  proposal: Proposal,
  selection: { readonly keep: readonly string[]; readonly refuse: readonly string[] },
): readonly DecidedHunk[] {
  const hunks = namedHunks(proposal);
  const named = (selectors: readonly string[]) => {
    const found = new Set<NamedHunk>();
    for (const selector of selectors) {
      const matches = hunks.filter(({ name, change }) => name === selector || change.path === selector);
      if (matches.length === 0) throw unknownHunk(selector, hunks);
      for (const match of matches) found.add(match);
    }
    return found;
  };
  const kept = named(selection.keep);
  const refused = named(selection.refuse);
  return decideEach(hunks, (hunk) => {
    if (refused.has(hunk)) return { type: "undo" };
    return selection.keep.length === 0 || kept.has(hunk) ? { type: "keep" } : { type: "undo" };
  });
}

/** In the order of the hunks. */
export function decideEach(
  hunks: readonly NamedHunk[],
  decide: (hunk: NamedHunk) => HunkDecision,
): readonly DecidedHunk[] {
  return hunks.map((hunk) => ({ changeId: hunk.change.id, hunkId: hunk.hunkId, decision: decide(hunk) }));
}

function unknownHunk(selector: string, hunks: readonly NamedHunk[]): CliError {
  return usageError(
    `The proposal has no hunk ${selector}; nothing was applied.`,
    `Its hunks are: ${hunks.map(({ name }) => name).join(", ")}`,
  );
}
