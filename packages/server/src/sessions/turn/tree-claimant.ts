import type { TreeClaim } from "@gennai/governance/policies/single-writer";
import type { ProcessLocks } from "../../process/process-lock.ts";

/** A session's claim to write to a working tree, made at its first change and held to the end of the turn. */
export class TreeClaimant implements Disposable {
  readonly #locks: ProcessLocks;
  readonly #root: string;
  readonly #sessionId: string;
  #lock: Disposable | undefined;
  #claiming: Promise<TreeClaim> | undefined;
  #disposed = false;

  constructor(locks: ProcessLocks, root: string, sessionId: string) {
    this.#locks = locks;
    this.#root = root;
    this.#sessionId = sessionId;
  }

  async claim(): Promise<TreeClaim> {
    if (this.#lock !== undefined) return { type: "ours" };
    // Calls of one turn may ask at once; the second must not find the first in its way.
    this.#claiming ??= this.#claim().finally(() => {
      this.#claiming = undefined;
    });
    return this.#claiming;
  }

  async #claim(): Promise<TreeClaim> {
    const attempt = this.#locks.tryAcquire(`tree ${this.#root}`, `session ${this.#sessionId}`);
    if (attempt.type === "held") return { type: "held", by: `${attempt.what}, process ${attempt.pid}` };
    const { shared } = this.#locks;
    if (shared === undefined) {
      this.#lock = attempt.lock;
      return { type: "ours" };
    }
    using parts = new DisposableStack();
    parts.use(attempt.lock);
    const everywhere = await shared.tryAcquire(`tree ${this.#root}`, `session ${this.#sessionId}`);
    if (everywhere.type === "held") return { type: "held", by: everywhere.by };
    parts.use(everywhere.lock);
    if (this.#disposed) return { type: "held", by: "nobody, the turn is over" };
    this.#lock = parts.move();
    return { type: "ours" };
  }

  /** What a claim would say, without making one. */
  look(): TreeClaim {
    const holder = this.#locks.holder(`tree ${this.#root}`);
    if (holder === undefined || holder.what === `session ${this.#sessionId}`) return { type: "ours" };
    return { type: "held", by: `${holder.what}, process ${holder.pid}` };
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#lock?.[Symbol.dispose]();
    this.#lock = undefined;
  }
}
