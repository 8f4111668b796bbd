import { setTimeout as delay } from "node:timers/promises";
import type { Route } from "./http/route.ts";

/** Measures for how long a server got no calls. */
export class Idleness {
  #callsOpen = 0;
  #since = performance.now();

  /** The same, watched: a call lasts until its answer was sent, so that of an open stream as long as the stream. */
  watched(handle: Route["handle"]): Route["handle"] {
    return (request, response, context) => {
      this.#callsOpen += 1;
      response.once("close", () => {
        this.#callsOpen -= 1;
        this.#since = performance.now();
      });
      return handle(request, response, context);
    };
  }

  /**
   * Resolves when for that many milliseconds there was no call, and no work under way. Rejects when `signal` aborts.
   *
   * @param isBusy whether work is under way without a client
   */
  async lasts(milliseconds: number, isBusy: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
    for (;;) {
      // Evaluated first, because a call may arrive meanwhile.
      if ((await isBusy()) || this.#callsOpen > 0) this.#since = performance.now();
      const left = this.#since + milliseconds - performance.now();
      if (left <= 0) return;
      await delay(Math.min(left, lookEvery), undefined, { signal, ref: false });
    }
  }
}

/** Milliseconds between two looks at what is under way. */
const lookEvery = 1_000;
