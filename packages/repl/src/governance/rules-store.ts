import type { GovernanceClient } from "@gennai/client/connection/connection";
import { type CheckedCall, checkCommand, listRules, type RulesInForce } from "@gennai/client/governance/rules";
import { PanelStore, type StoreCall } from "../look/panel-store.ts";
import type { Problem } from "../look/problem.ts";

export interface RulesStoreState {
  /** undefined until it is loaded. */
  readonly inForce: RulesInForce | undefined;
  /** The command that was tried last, and the verdict on it. */
  readonly tried: { readonly command: string; readonly answer: CheckedCall } | undefined;
  readonly busy: boolean;
  readonly problem: Problem | undefined;
}

/** The rules in force, and verdicts on commands that a person tries. Nothing here runs anything. */
export class RulesStore extends PanelStore<RulesStoreState> {
  readonly #client: Pick<GovernanceClient, "listRules" | "checkPolicy">;
  readonly #sessionId: string;

  /** @param sessionId empty: the default workspace, in which nothing can be tried */
  constructor(client: Pick<GovernanceClient, "listRules" | "checkPolicy">, sessionId: string) {
    super({ inForce: undefined, tried: undefined, busy: false, problem: undefined });
    this.#client = client;
    this.#sessionId = sessionId;
  }

  load(): Promise<void> {
    return this.#do("List the rules", async (options) =>
      this.set({ inForce: await listRules(this.#client, this.#sessionId, options) }),
    );
  }

  try(command: string): Promise<void> {
    return this.#do("Try a command", async (options) => {
      const answer = await checkCommand(this.#client, { sessionId: this.#sessionId, command }, options);
      this.set({ tried: { command, answer } });
    });
  }

  async #do(action: string, run: (call: StoreCall) => Promise<void>): Promise<void> {
    await this.attempt(action, { during: { busy: true }, after: { busy: false } }, run);
  }
}
