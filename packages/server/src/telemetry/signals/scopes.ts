import { AsyncLocalStorage } from "node:async_hooks";
import type { TraceContext } from "./trace-parent.ts";

/** On whose behalf work is done: for its log lines and spans. */
export interface Scope {
  /** Made by this server for each RPC; told to the client in `X-Request-Id`. */
  readonly requestId?: string;
  /** The span that is under way, here or at the client. */
  readonly trace?: TraceContext;
  /** Turns and sub-agents that what happens is a part of, the innermost last. */
  readonly agents?: readonly AgentUse[];
}

/** Tokens an agent took so far, for the end of its span. */
export interface AgentUse {
  inputTokens: number;
  outputTokens: number;
}

const nothing: Scope = {};

/** Follows work through all it awaits: a turn that an RPC started still knows of it when that RPC is over. */
export class Scopes {
  readonly #storage = new AsyncLocalStorage<Scope>();

  get current(): Scope {
    return this.#storage.getStore() ?? nothing;
  }

  /** Runs work in the present scope, changed so. */
  run<Result>(change: Scope, work: () => Result): Result {
    return this.#storage.run({ ...this.current, ...change }, work);
  }
}
