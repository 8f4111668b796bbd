import type { ExecutionContext } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";

/** How many may work at once, and how many in all. Who comes later waits. */
export class SubAgentSeats {
  readonly #atOnce: number;
  readonly #inAll: number;
  #taken = 0;
  #begun = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(options: { readonly atOnce: number; readonly inAll: number }) {
    this.#atOnce = options.atOnce;
    this.#inAll = options.inAll;
  }

  async take<T>(work: () => Promise<T>, { signal }: Pick<ExecutionContext, "signal">): Promise<T> {
    if (this.#begun >= this.#inAll) {
      throw new ToolFailure("too_many_sub_agents", `A turn runs at most ${this.#inAll} sub-agents.`, {
        hint: "Do the rest yourself.",
      });
    }
    this.#begun++;
    if (this.#taken < this.#atOnce) this.#taken++;
    // Whoever leaves hands its seat on, so that it stays taken.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#taken--;
      else next();
    }
  }
}
