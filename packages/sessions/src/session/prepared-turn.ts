import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { TurnEnd } from "@gennai/agent/loop/turn-loop";
import type { LedgerEntry } from "@gennai/governance/ledger/ledger-entry";
import { ServiceError } from "@gennai/machine/service-error";

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

/**
 * The result of `prepare`. If `giveUp` aborts first, `abort` is aborted too, this rejects with a `ServiceError` at once, and a
 * later result is released.
 */
export async function withAbandonSignal(
  prepare: () => Promise<PreparedTurn>,
  { giveUp, abort }: { readonly giveUp: AbortSignal; readonly abort: AbortController },
): Promise<PreparedTurn> {
  if (giveUp.aborted) throw givenUp();
  const { promise, reject } = Promise.withResolvers<never>();
  const onGiveUp = (): void => {
    const error = givenUp();
    reject(error);
    abort.abort(error);
  };
  giveUp.addEventListener("abort", onGiveUp, { once: true });
  const preparing = prepare();
  try {
    return await Promise.race([preparing, promise]);
  } catch (error) {
    preparing.then(
      (late) => late.gate?.[Symbol.dispose](),
      () => undefined,
    );
    throw giveUp.aborted ? givenUp() : error;
  } finally {
    giveUp.removeEventListener("abort", onGiveUp);
  }
}

function givenUp(): ServiceError {
  return new ServiceError("failed_precondition", "The turn was stopped before it began.");
}
