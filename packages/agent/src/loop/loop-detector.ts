import type { CallResult } from "@gennai/governance/gate/gate";

/** Results in a row that told nothing new, before a warning and before the end. */
const warnAfter = 2;
const endAfter = 6;
/** How often one of them came back meanwhile: reading many files once more is not a loop. */
const warnRepeats = 2;
const endRepeats = 3;

type Result = Pick<CallResult, "call" | "output">;

/** What the results of one answer say about a loop. */
export type LoopFinding =
  | { readonly type: "progress" }
  /** For the model, behind the result of this call. */
  | { readonly type: "warn"; readonly callId: string; readonly text: string }
  | { readonly type: "loop"; readonly name: string; readonly times: number };

/**
 * Finds a turn that goes round in circles: the same calls with the same results, one after the other or in a cycle, unchanged
 * reads among them. Any call or result that the turn has not seen yet is progress, and begins the count anew.
 */
export class LoopDetector {
  /** Outputs by call. They are the conversation's own texts: a key made of both would hold each once more. */
  readonly #seen = new Map<string, Set<string>>();
  /** Since the last progress, how often each came back. */
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

  /** The model does not know any more what it saw: seeing it again is not a loop. */
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
