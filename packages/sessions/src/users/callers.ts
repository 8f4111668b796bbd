import { AsyncLocalStorage } from "node:async_hooks";
import type { Identity } from "./identity.ts";

/**
 * On whose behalf code runs right now. A turn that a request starts goes on in that request's name after it was answered;
 * what a timer or a signal of the server starts has no caller.
 */
export class Callers {
  readonly #storage = new AsyncLocalStorage<Identity>();

  run<Result>(identity: Identity, work: () => Result): Result {
    return this.#storage.run(identity, work);
  }

  /** undefined: the server itself. */
  current(): Identity | undefined {
    return this.#storage.getStore();
  }
}
