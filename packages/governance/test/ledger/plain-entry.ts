import type { LedgerEntry } from "#ledger/ledger-entry";

/** An entry of a session in which nothing was done. */
export function plainEntry(more: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    kind: "session",
    time: 1,
    sessionId: "s",
    turnId: "",
    modelId: "",
    revision: "",
    calls: [],
    files: [],
    details: {},
    ...more,
  };
}
