import { AsyncLocalStorage } from "node:async_hooks";
import type { Identity } from "./identity.ts";

/**
 * The user on whose behalf code runs now. A turn keeps the name of the request that started it, also after the response; timers
 * and signals of the server have no caller.
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
