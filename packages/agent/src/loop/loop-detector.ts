import type { CallResult } from "@gennai/governance/gate/gate";

/** Results in a row with nothing new: before a warning, and before the turn ends. */
const warnAfter = 2;
const endAfter = 6;
/** How often one result must have repeated in that time: reading many files once more is not a loop. */
const warnRepeats = 2;
const endRepeats = 3;

type Result = Pick<CallResult, "call" | "output">;

/** What the results of one answer tell about a loop. */
export type LoopFinding =
  | { readonly type: "progress" }
  /** A warning for the model, added after the result of this call. */
  | { readonly type: "warn"; readonly callId: string; readonly text: string }
  | { readonly type: "loop"; readonly name: string; readonly times: number };

/**
 * Detects a turn that repeats itself: the same calls with the same results, one after the other or in a cycle,
 * including unchanged reads. Any call or result that is new in this turn is progress and resets the count.
 */
export class LoopDetector {
  /** Outputs by call. The strings are shared with the conversation; a combined key would copy each of them. */
  readonly #seen = new Map<string, Set<string>>();
  /** How often each result repeated since the last progress. */
  readonly #again = new Map<string, number>();
  #stale = 0;
  #warned = false;

  observe(results: readonly Result[]): LoopFinding {
    let finding: LoopFinding = { type: "progress" };
    for (const { call, output } of results) {
      const called = JSON.stringify([call.name, call.argumentsJson]);
      const outputs = this.#seen.get(called) ?? new Set();
      this.#seen.set(called, outputs);
      if (!outputs.has(output)) {
        outputs.add(output);
        this.#progress();
        finding = { type: "progress" };
        continue;
      }
      this.#stale++;
      const key = JSON.stringify([called, output]);
      const times = (this.#again.get(key) ?? 0) + 1;
      this.#again.set(key, times);
      if (this.#stale >= endAfter && times >= endRepeats) return { type: "loop", name: call.name, times: times + 1 };
      if (!this.#warned && this.#stale >= warnAfter && times >= warnRepeats) {
        this.#warned = true;
        finding = { type: "warn", callId: call.id, text: warning(call.name, times + 1) };
      }
    }
    return finding;
  }

  /** Call it when old results were removed from the conversation: reading them again is not a loop. */
  forget(): void {
    this.#seen.clear();
    this.#progress();
  }

  #progress(): void {
    this.#again.clear();
    this.#stale = 0;
    this.#warned = false;
  }
}

function warning(name: string, times: number): string {
  return `This ${name} call was made ${times} times with the same result, and the calls in between brought nothing new. Doing it again ends the turn: use what you know, try something else, or tell the user what is missing.`;
}
