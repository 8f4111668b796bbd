import { setTimeout as delay } from "node:timers/promises";
import type { Route } from "./http/route.ts";

/** Knows for how long nobody has called a server. */
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
   * Resolves when for so many milliseconds nobody has called, and nothing was under way. Rejects when `signal` aborts.
   *
   * @param isBusy whether something is under way that nobody watches
   */
  async lasts(milliseconds: number, isBusy: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
    for (;;) {
      // Asked first: a call may come meanwhile.
      if ((await isBusy()) || this.#callsOpen > 0) this.#since = performance.now();
      const left = this.#since + milliseconds - performance.now();
      if (left <= 0) return;
      await delay(Math.min(left, lookEvery), undefined, { signal, ref: false });
    }
  }
}

/** Milliseconds between two looks at what is under way. */
const lookEvery = 1_000;
