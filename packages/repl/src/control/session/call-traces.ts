import type { GovernanceClient } from "@gennai/client/connection/connection";
import { traceCall } from "@gennai/client/trace-lines";
import type { CallTrace } from "@gennai/protocol/model/governance/line-trace";
import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { type Problem, problemOf } from "../../look/problem.ts";

/** Where a call's lines are at present, as far as it is known. */
export type CallTraceState =
  | { readonly type: "not-asked" }
  | { readonly type: "asking" }
  | { readonly type: "traced"; readonly trace: CallTrace }
  | { readonly type: "failed"; readonly problem: Problem };

interface KnownCall {
  readonly turnId: string;
  readonly callId: string;
  readonly state: Signal<CallTraceState>;
}

/** Where the lines of a session's calls are at present: loaded when a reader asks, and again each time. */
export class CallTraces implements Disposable {
  readonly #client: Pick<GovernanceClient, "traceCall">;
  readonly #sessionId: string;
  readonly #over = new AbortController();
  readonly #known = new Map<string, KnownCall>();

  constructor(client: Pick<GovernanceClient, "traceCall">, sessionId: string) {
    this.#client = client;
    this.#sessionId = sessionId;
  }

  of(turnId: string, callId: string): ReadonlySignal<CallTraceState> {
    return this.#of(turnId, callId);
  }

  /** Never rejects: the problem is shown in place of the answer. */
  async ask(turnId: string, callId: string): Promise<void> {
    const state = this.#of(turnId, callId);
    if (state.peek().type === "asking") return;
    state.value = { type: "asking" };
    try {
      const call = { sessionId: this.#sessionId, turnId, callId };
      state.value = { type: "traced", trace: await traceCall(this.#client, call, { signal: this.#over.signal }) };
    } catch (error) {
      state.value = { type: "failed", problem: problemOf(error, "Look for what is left") };
    }
  }

  /** Files have changed: repeats what was answered before. */
  askAgain(): void {
    for (const { turnId, callId, state } of this.#known.values()) {
      if (state.peek().type === "traced") void this.ask(turnId, callId);
    }
  }

  [Symbol.dispose](): void {
    this.#over.abort();
    this.#known.clear();
  }

  #of(turnId: string, callId: string): Signal<CallTraceState> {
    const key = JSON.stringify([turnId, callId]);
    const known = this.#known.get(key);
    if (known !== undefined) return known.state;
    const state = signal<CallTraceState>({ type: "not-asked" });
    this.#known.set(key, { turnId, callId, state });
    return state;
  }
}
