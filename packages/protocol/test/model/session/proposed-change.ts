import type { Hunk, Proposal, ProposedChange } from "#model/session/proposal";

/** A hunk of one line, at the same place before and after. */
export function oneHunk(id: string, line = 1, lines: readonly string[] = []): Hunk {
  const range = { start: line, count: 1 };
  return { id, oldRange: range, newRange: range, lines };
}

/** An update of a.txt of which nothing more is known. */
export function proposedChange(more: Partial<ProposedChange> = {}): ProposedChange {
  return {
    id: "c1",
    path: "a.txt",
    operation: "update",
    unifiedDiff: "",
    newContent: "",
    baseSha256: "",
    conflict: false,
    warning: "",
    hunks: [],
    ...more,
  };
}

export function proposalOf(changes: readonly ProposedChange[], proposalId = "p"): Proposal {
  return { proposalId, toolCallId: "t", changes, hasConflicts: false, warnings: [] };
}
