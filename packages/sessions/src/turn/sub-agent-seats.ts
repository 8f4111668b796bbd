import type { ExecutionContext } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import pLimit, { type LimitFunction } from "p-limit";

/** Limits how many work at once, and in total. Further ones wait. */
export class SubAgentSeats {
  readonly #seats: LimitFunction;
  readonly #inAll: number;
  #begun = 0;

  constructor(options: { readonly atOnce: number; readonly inAll: number }) {
    this.#seats = pLimit(options.atOnce);
    this.#inAll = options.inAll;
  }

  async take<T>(work: () => Promise<T>, { signal }: Pick<ExecutionContext, "signal">): Promise<T> {
    if (this.#begun >= this.#inAll) {
      throw new ToolFailure("too_many_sub_agents", `A turn runs at most ${this.#inAll} sub-agents.`, {
        hint: "Do the rest yourself.",
      });
    }
    this.#begun++;
    return this.#seats(() => {
      signal.throwIfAborted();
      return work();
    });
  }
}
