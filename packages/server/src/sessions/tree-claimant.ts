import type { TreeClaim } from "@gennai/governance/policies/single-writer";
import type { ProcessLocks } from "../process/process-lock.ts";

/** A session's claim to write to a working tree, made at its first change and held to the end of the turn. */
export class TreeClaimant implements Disposable {
  readonly #locks: ProcessLocks;
  readonly #root: string;
  readonly #sessionId: string;
  #lock: Disposable | undefined;

  constructor(locks: ProcessLocks, root: string, sessionId: string) {
    this.#locks = locks;
    this.#root = root;
    this.#sessionId = sessionId;
  }

  claim(): TreeClaim {
    if (this.#lock !== undefined) return { type: "ours" };
    const attempt = this.#locks.tryAcquire(`tree ${this.#root}`, `session ${this.#sessionId}`);
    if (attempt.type === "held") return { type: "held", by: `${attempt.what}, process ${attempt.pid}` };
    this.#lock = attempt.lock;
    return { type: "ours" };
  }

  /** What a claim would say, without making one. */
  look(): TreeClaim {
    const holder = this.#locks.holder(`tree ${this.#root}`);
    if (holder === undefined || holder.what === `session ${this.#sessionId}`) return { type: "ours" };
    return { type: "held", by: `${holder.what}, process ${holder.pid}` };
  }

  [Symbol.dispose](): void {
    this.#lock?.[Symbol.dispose]();
    this.#lock = undefined;
  }
}
