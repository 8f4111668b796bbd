import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { TurnEnd } from "@gennai/agent/loop/turn-loop";
import type { LedgerEntry } from "@gennai/governance/ledger/ledger-entry";

/** A turn that is ready to run. */
export interface PreparedTurn {
  /** First events of the turn; durable before it runs. */
  readonly openingEvents: readonly SessionEvent[];
  /** What goes in with them, in the same transaction. */
  readonly openingRecords?: { readonly ledger: readonly LedgerEntry[]; readonly spentTokens: readonly string[] };
  /** Settled before the end of the turn is written, disposed after; undefined for a turn without tools. */
  readonly gate?: Disposable & { settle(): Promise<void> };
  run(): Promise<TurnEnd>;
}

/** Builds a turn that is about to start. It may still refuse: what it throws reaches the one who starts it. */
export type TurnPreparation = (turnId: string, signal: AbortSignal) => Promise<PreparedTurn>;
