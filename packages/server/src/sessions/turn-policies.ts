import type { EditingMode } from "@gennai/agent/session-settings";
import type { Policy } from "@gennai/governance/policy";
import { allow, ask, deny } from "@gennai/governance/verdict";
import { singleWriter, type TreeClaim } from "@gennai/governance/policies/single-writer";
import { digestOf } from "@gennai/protocol/digest";
import type { ProcessLocks } from "../process/process-lock.ts";

export interface TurnPolicyOptions {
  readonly workspaceRoot: string;
  readonly home: string;
  readonly editingMode: EditingMode;
  readonly sessionBranch: string | undefined;
  readonly protectedBranches: readonly string[];
  readonly sandboxed: boolean;
  readonly tree: TreeClaimant;
}

/** The rules of one turn, in the order in which they are listed to people; all of them run for every call. */
export function turnPolicies(options: TurnPolicyOptions): readonly Policy[] {
  return [
    singleWriter(() => options.tree.claim()),
    {
      name: "provisional",
      kind: "guard",
      decide: ({ analysis }) => {
        for (const effect of analysis.effects) {
          const finding = { code: "provisional", rule: "provisional", reason: "provisional" };
          if ("path" in effect && !effect.path.inside) return deny(finding);
          if (effect.type === "exec" && !effect.command.readsOnly) return ask(finding);
        }
        return allow;
      },
    },
  ];
}

/** What the rules in force are, for questions and records. */
export function policyDigest(policies: readonly Policy[]): string {
  return digestOf(policies.map(({ name, kind }) => ({ name, kind })));
}

/** A session's claim to write to a tree, made at its first write and held to the end of the turn. */
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
