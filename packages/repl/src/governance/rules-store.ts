import type { GovernanceClient } from "@gennai/client/connection/connection";
import { type CheckedCall, checkCommand, listRules, type RulesInForce } from "@gennai/client/governance/rules";
import { type ReadonlySignal, signal } from "@preact/signals";
import { type Problem, problemOf } from "../look/problem.ts";

export interface RulesStoreState {
  /** undefined until it is loaded. */
  readonly inForce: RulesInForce | undefined;
  /** The command that was tried last, and the verdict on it. */
  readonly tried: { readonly command: string; readonly answer: CheckedCall } | undefined;
  readonly busy: boolean;
  readonly problem: Problem | undefined;
}

/** The rules in force, and verdicts on commands that a person tries. Nothing here runs anything. */
export class RulesStore implements Disposable {
  readonly #client: Pick<GovernanceClient, "listRules" | "checkPolicy">;
  readonly #sessionId: string;
  readonly #state = signal<RulesStoreState>({ inForce: undefined, tried: undefined, busy: false, problem: undefined });
  readonly #over = new AbortController();

  /** @param options.sessionId empty: the default workspace, in which nothing can be tried */
  constructor(options: {
    readonly client: Pick<GovernanceClient, "listRules" | "checkPolicy">;
    readonly sessionId: string;
  }) {
    this.#client = options.client;
    this.#sessionId = options.sessionId;
  }

  get state(): ReadonlySignal<RulesStoreState> {
    return this.#state;
  }

  load(): Promise<void> {
    return this.#do("List the rules", async (options) => ({
      inForce: await listRules(this.#client, this.#sessionId, options),
    }));
  }

  try(command: string): Promise<void> {
    return this.#do("Try a command", async (options) => {
      const answer = await checkCommand(this.#client, { sessionId: this.#sessionId, command }, options);
      return { tried: { command, answer } };
    });
  }

  dismiss(): void {
    this.#set({ problem: undefined });
  }

  [Symbol.dispose](): void {
    this.#over.abort();
  }

  async #do(
    action: string,
    run: (options: { readonly signal: AbortSignal }) => Promise<Partial<RulesStoreState>>,
  ): Promise<void> {
    this.#set({ busy: true, problem: undefined });
    try {
      this.#set({ ...(await run({ signal: this.#over.signal })), busy: false });
    } catch (error) {
      if (!this.#over.signal.aborted) this.#set({ busy: false, problem: problemOf(error, action) });
    }
  }

  #set(change: Partial<RulesStoreState>): void {
    this.#state.value = { ...this.#state.peek(), ...change };
  }
}
