import { isReadOnly } from "../../effect.ts";
import type { Policy } from "../../policy.ts";
import { allow, deny } from "../../verdict.ts";

/** Whether this session may write to the tree; `held` names who does instead. */
export type TreeClaim = { readonly type: "ours" } | { readonly type: "held"; readonly by: string };

/** The name of the policy below. */
export const singleWriter = "single-writer";

/** One writing session per working tree: two agents in one tree would undo each other's work unknowingly. */
export function createSingleWriterPolicy(claim: () => TreeClaim | Promise<TreeClaim>): Policy {
  return {
    name: singleWriter,
    kind: "guard",
    async decide({ analysis }) {
      if (analysis.effects.every(isReadOnly)) return allow;
      const claimed = await claim();
      if (claimed.type === "ours") return allow;
      return deny({
        code: "workspace_busy",
        rule: "single-writer/workspace-busy",
        reason: `Another session writes to this working tree (${claimed.by}).`,
        hint: "Waiting for it did not help. Try again later, or work in a git worktree of your own.",
        retryable: true,
      });
    },
  };
}
