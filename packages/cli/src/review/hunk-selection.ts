import { type HunkDecision, wholeChange } from "@gennai/protocol/apply-review";
import type { Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import { CliError } from "../terminal/cli-error.ts";
import { exitCode } from "../terminal/exit-code.ts";

/** Decisions by change id, then by hunk id. */
export type Decisions = ReadonlyMap<string, ReadonlyMap<string, HunkDecision>>;

/** A hunk as a person names it: `src/a.ts#2`. */
export interface NamedHunk {
  readonly name: string;
  readonly change: ProposedChange;
  /** `wholeChange` for a change without hunks, and for a delete, which is kept or refused as a whole. */
  readonly hunkId: string;
}

export function namedHunks(proposal: Proposal): readonly NamedHunk[] {
  return proposal.changes.flatMap((change) =>
    hunkIds(change).map((hunkId, index) => ({ name: `${change.path}#${index + 1}`, change, hunkId })),
  );
}

/** Decides by options: `keep` names what is kept, `refuse` what is not; with `refuse` alone, the rest is kept. */
export function decideBySelection(
  proposal: Proposal,
  selection: { readonly keep: readonly string[]; readonly refuse: readonly string[] },
): Decisions {
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

export function decideEach(hunks: readonly NamedHunk[], decide: (hunk: NamedHunk) => HunkDecision): Decisions {
  const decisions = new Map<string, Map<string, HunkDecision>>();
  for (const hunk of hunks) {
    const ofChange = decisions.get(hunk.change.id) ?? new Map<string, HunkDecision>();
    ofChange.set(hunk.hunkId, decide(hunk));
    decisions.set(hunk.change.id, ofChange);
  }
  return decisions;
}

function hunkIds(change: ProposedChange): readonly string[] {
  const isWhole = change.hunks.length === 0 || change.operation === "delete";
  return isWhole ? [wholeChange] : change.hunks.map((hunk) => hunk.id);
}

function unknownHunk(selector: string, hunks: readonly NamedHunk[]): CliError {
  return new CliError(`The proposal has no hunk ${selector}; nothing was applied.`, {
    exitCode: exitCode.usage,
    next: [`Its hunks are: ${hunks.map(({ name }) => name).join(", ")}`],
  });
}
