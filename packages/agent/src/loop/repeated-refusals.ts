import type { CallResult } from "@gennai/governance/gate/gate";
import type { ToolCall } from "@gennai/governance/gate/gate-journal";

/** How often in a row the same call may be refused before the turn ends. */
export const maxRepeatedRefusals = 3;

/** Counts how often in a row the same call was refused. */
export class RepeatedRefusals {
  #last = "";
  #times = 0;

  /** Returns the call that was refused too often, if any. */
  count(results: readonly CallResult[]): ToolCall | undefined {
    for (const { call, refused } of results) {
      const key = refused ? `${call.name}\n${call.argumentsJson}` : "";
      this.#times = refused && key === this.#last ? this.#times + 1 : refused ? 1 : 0;
      this.#last = key;
      if (this.#times >= maxRepeatedRefusals) return call;
    }
    return undefined;
  }
}
