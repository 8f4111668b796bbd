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

  [Symbol.dispose](): void {
    this.#lock?.[Symbol.dispose]();
    this.#lock = undefined;
  }
}
