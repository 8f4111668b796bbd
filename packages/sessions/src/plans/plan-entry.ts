import type { LedgerEntry } from "@gennai/governance/ledger/ledger-entry";
import { knownHead } from "@gennai/machine/workspace/known-head";
import type { Session } from "../session/session.ts";

/** A ledger record about a plan as a whole; its actions have their own. */
export function planEntry(
  session: Session,
  turnId: string,
  kind: LedgerEntry["kind"],
  details: Readonly<Record<string, unknown>>,
): LedgerEntry {
  const head = knownHead(session.workspace);
  return {
    kind,
    turnId,
    details,
    time: session.services.now(),
    sessionId: session.id,
    modelId: "",
    revision: (head.type === "none" ? undefined : head.commit) ?? "",
    calls: [],
    files: [],
  };
}
