import { type ReadonlySignal, signal } from "@preact/signals";
import { type Problem, problemOf } from "./problem.ts";

/** What is passed to calls of a store: it aborts when the store ends. */
export interface StoreCall {
  readonly signal: AbortSignal;
}

interface PanelState {
  readonly problem: Problem | undefined;
}

/** Work that many ask for at once: it never runs twice at a time, and runs once more for all who ask during a run. */
export function gathered(work: () => Promise<void>): () => Promise<void> {
  let isAsked = false;
  let running: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    while (isAsked) {
      isAsked = false;
      await work();
    }
  };
  return () => {
    isAsked = true;
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** What a panel shows, and what a person does there: a failure is shown, until it is dismissed or something else is done. */
export abstract class PanelStore<State extends PanelState> implements Disposable {
  readonly #state;
  readonly state: ReadonlySignal<State>;
  readonly #over = new AbortController();
  readonly #now: () => number;

  constructor(first: State, now: () => number = Date.now) {
    this.#state = signal(first);
    this.state = this.#state;
    this.#now = now;
  }

  dismiss(): void {
    this.fail(undefined);
  }

  [Symbol.dispose](): void {
    this.#over.abort();
  }

  protected get over(): AbortSignal {
    return this.#over.signal;
  }

  protected set(change: Partial<State>): void {
    this.#state.value = { ...this.#state.peek(), ...change };
  }

  protected fail(error: unknown, action = ""): void {
    const problem = error === undefined ? undefined : problemOf(error, action, this.#now);
    this.#state.value = { ...this.#state.peek(), problem };
  }

  /** Does something; `during` is shown meanwhile, and no earlier problem. False if it failed, or the store has ended. */
  protected async attempt(
    action: string,
    { during, after }: { readonly during: Partial<State>; readonly after: Partial<State> },
    work: (call: StoreCall) => Promise<void>,
  ): Promise<boolean> {
    this.#state.value = { ...this.#state.peek(), problem: undefined, ...during };
    const done = await this.guard(action, work);
    this.set(after);
    return done;
  }

  /** Does something in the background. */
  protected async guard(action: string, work: (call: StoreCall) => Promise<void>): Promise<boolean> {
    try {
      await work({ signal: this.over });
      return true;
    } catch (error) {
      if (!this.over.aborted) this.fail(error, action);
      return false;
    }
  }
}
