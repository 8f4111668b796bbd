import type { StoreDatabase } from "../database/database.ts";
import { StoreError } from "../database/store-error.ts";
import { findStepBacks, type StepBack } from "./step-back.ts";

/** Milliseconds between two checks while something is wrong: a user may accept the loss in another process. */
const lookEvery = 2_000;

export interface EvidenceWatchOptions {
  readonly stateDir: string;
  readonly shared: boolean;
  /** Called once when the store is found to have stepped back. */
  readonly onWarning: (text: string) => void;
  /** Called when the store has stepped back, and when it no longer has. */
  readonly onChange: (steppedBack: boolean) => void;
}

/**
 * Evidence must never go backwards. A store that is behind what was signed accepts no record and signs nothing, until the newer
 * one is back or a user accepts the loss, which is then recorded in the ledgers.
 */
export class EvidenceWatch implements Disposable {
  readonly #database: StoreDatabase;
  readonly #options: EvidenceWatchOptions;
  #found: readonly StepBack[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(database: StoreDatabase, options: EvidenceWatchOptions) {
    this.#database = database;
    this.#options = options;
  }

  /** The findings; empty if all is well. */
  get stepBacks(): readonly StepBack[] {
    return this.#found;
  }

  /** Throws `StoreError` `rolled_back` while the store is behind. */
  assertForward(): void {
    if (this.#found.length > 0) throw rolledBack(this.#found, this.#options);
  }

  /** Compares again. */
  async look(): Promise<readonly StepBack[]> {
    const { stateDir, shared } = this.#options;
    this.#set(await findStepBacks(stateDir, this.#database, { shared }));
    return this.#found;
  }

  /** Called by whoever finds a step back before signing. */
  report(found: StepBack): void {
    if (this.#found.length === 0) this.#set([found]);
  }

  /** Accepts the loss, which the caller is about to record. */
  accept(): void {
    this.#found = [];
    this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #set(found: readonly StepBack[]): void {
    const was = this.#found.length > 0;
    this.#found = found;
    const is = found.length > 0;
    if (is === was) return;
    this.#options.onChange(is);
    if (!is) return this[Symbol.dispose]();
    this.#options.onWarning(rolledBack(found, this.#options).message);
    this.#timer = setInterval(() => {
      // Closed, or busy: the next look reports it.
      this.look().catch(() => undefined);
    }, lookEvery);
    this.#timer.unref();
  }
}

/** At most this many are named in one message. */
const named = 3;

function rolledBack(found: readonly StepBack[], { shared }: { readonly shared: boolean }): StoreError {
  const more = found.length > named ? [`${found.length - named} more of this kind.`] : [];
  const what = [...found.slice(0, named).map(({ message }) => message), ...more].join(" ");
  const next = shared
    ? "Restore the streams in NATS. If their records are lost, keep heads/ of every replica as evidence, and move it away."
    : "Stop the server and put the newer database back, or run gennai ledger accept-rollback: the ledger then records the loss.";
  return new StoreError("rolled_back", `The store is not what was signed. ${what} Nothing is recorded. ${next}`);
}
