import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { WorkingTreeClaim } from "../session/working-tree-claim.ts";

/** One wait shared by all waiting calls of a turn; it ends when the last of them has left. */
interface SharedWait {
  readonly ended: Promise<void>;
  readonly stop: AbortController;
  callers: number;
}

/** Lets a turn wait in line for its working tree while another session writes there, up to a total limit. */
export class TreeWait {
  readonly #tree: WorkingTreeClaim;
  readonly #emit: (event: SessionEvent) => void;
  #leftMs: number;
  #shared: SharedWait | undefined;

  /** @param options.limitMs for the whole turn: repeated calls do not wait the full time again */
  constructor(
    tree: WorkingTreeClaim,
    options: { readonly limitMs: number; readonly emit: (event: SessionEvent) => void },
  ) {
    this.#tree = tree;
    this.#emit = options.emit;
    this.#leftMs = options.limitMs;
  }

  /**
   * Resolves when the tree is this turn's, or the limit is reached; a claim shows which. Rejects when the signal aborts.
   * Waiting calls of one turn share one place in line: otherwise the second would wait for the first.
   */
  async wait(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#leftMs <= 0) return;
    const shared = (this.#shared ??= this.#begin());
    shared.callers += 1;
    const { promise: stopped, reject } = Promise.withResolvers<never>();
    const stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    try {
      await Promise.race([shared.ended, stopped]);
    } finally {
      signal.removeEventListener("abort", stop);
      shared.callers -= 1;
      if (shared.callers === 0) {
        if (this.#shared === shared) this.#shared = undefined;
        shared.stop.abort();
      }
    }
  }

  #begin(): SharedWait {
    const stop = new AbortController();
    const ended = this.#wait(stop.signal);
    // Not observed once the last caller has left.
    ended.catch(() => undefined);
    return { ended, stop, callers: 0 };
  }

  async #wait(signal: AbortSignal): Promise<void> {
    const began = performance.now();
    const left = () => this.#leftMs - (performance.now() - began);
    const limit = AbortSignal.timeout(Math.max(0, Math.ceil(this.#leftMs)));
    const ended = AbortSignal.any([signal, limit]);
    using place = this.#tree.standInLine();
    let told: number | undefined;
    try {
      for (;;) {
        const claim = await this.#tree.claim();
        signal.throwIfAborted();
        if (claim.type === "ours" || limit.aborted) return;
        const ahead = place.ahead();
        if (ahead !== told) this.#tell(claim.by, ahead, left());
        told = ahead;
        await this.#tree.changed(place, ended).catch((error: unknown) => {
          if (!ended.aborted) throw error;
        });
      }
    } finally {
      this.#leftMs = left();
    }
  }

  #tell(by: string, ahead: number, leftMs: number): void {
    const others = ahead === 0 ? "This turn is the next" : `In line before this turn: ${ahead}`;
    const limit = `It waits for at most ${Math.ceil(leftMs / 1000)} s; stop it to wait no longer.`;
    this.#emit({ type: "warning", text: `The working tree is in use by ${by}. ${others}. ${limit}` });
    this.#emit({ type: "status", state: "waiting-for-tree", iteration: 0 });
  }
}
