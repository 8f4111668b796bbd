import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { TurnEnd } from "@gennai/agent/loop/turn-loop";
import type { LedgerEntry } from "@gennai/governance/ledger/ledger-entry";

/** A turn that is ready to run. */
export interface PreparedTurn {
  /** First events of the turn; durable before it runs. */
  readonly openingEvents: readonly SessionEvent[];
  /** Records for the same transaction. */
  readonly openingRecords?: { readonly ledger: readonly LedgerEntry[]; readonly spentTokens: readonly string[] };
  /** Settled before the turn's end is written, disposed after; undefined for a turn without tools. */
  readonly gate?: Disposable & { settle(): Promise<void> };
  run(): Promise<TurnEnd>;
}

/** Prepares a turn that is about to start. It may refuse: its error reaches the caller that starts the turn. */
export type TurnPreparation = (turnId: string, signal: AbortSignal) => Promise<PreparedTurn>;
