import picomatch from "picomatch";
import { type Effect, isReadOnly } from "../effect.ts";
import type { Policy } from "../policy.ts";
import { allow, deny, type Verdict } from "../verdict.ts";

/** Where HEAD stands. */
export type BranchState =
  | {
      readonly type: "branch";
      readonly branch: string;
      /** The branch this session works on; undefined before it has one. */
      readonly sessionBranch: string | undefined;
      /** What protects the branch, e.g. `main` or the glob `release/*`; undefined when nothing does. */
      readonly protectedBy: string | undefined;
    }
  | { readonly type: "detached" }
  /** The workspace is no git repository. */
  | { readonly type: "none" };

/** How the agent may change files: on a branch of its own, or by proposals that the user applies. */
export type EditingMode = "branch" | "proposal";

/** Looks at the branch of the work tree right now. Rejects when git cannot be asked. */
export type ReadBranch = (options: { readonly signal: AbortSignal }) => Promise<BranchState>;

/**
 * In branch mode files change only on the session's own, unprotected branch; in proposal mode nothing changes but by
 * the user's hand. Commands that are not proven to read still ask elsewhere; here they only need the right branch.
 */
export function createBranchPolicy(options: { readonly mode: EditingMode; readonly readBranch: ReadBranch }): Policy {
  return {
    name: "branch",
    kind: "guard",
    async decide({ analysis }, { signal }) {
      const writes = analysis.effects.some((effect) => effect.type === "write" || mayWrite(effect));
      if (options.mode === "proposal") {
        return writes || analysis.effects.some((effect) => effect.type === "exec" && !isReadOnly(effect))
          ? proposalOnly
          : allow;
      }
      return writes ? onBranch(await options.readBranch({ signal })) : allow;
    },
  };
}

/** Somebody else's tool that was told of files here. */
function mayWrite(effect: Effect): boolean {
  return effect.type === "external" && !effect.readsOnly && effect.paths.some(({ inside }) => inside);
}

const proposalOnly: Verdict = deny({
  code: "proposal_mode",
  rule: "branch/proposal-mode",
  reason: "This session is in Proposal Mode: nothing is changed or run, changes are proposed.",
  hint: "Propose the change, and the user applies it.",
});

function onBranch(state: BranchState): Verdict {
  switch (state.type) {
    case "none":
      return deny({
        code: "no_repository",
        rule: "branch/no-repository",
        reason: "The workspace is no git repository, so changes could not be taken back.",
        hint: "Run git init, or use Proposal Mode.",
      });
    case "detached":
      return deny({
        code: "detached_head",
        rule: "branch/detached-head",
        reason: "HEAD is detached: changes would belong to no branch.",
        hint: "Check out a branch, or use Proposal Mode.",
      });
    case "branch":
      if (state.protectedBy !== undefined) {
        return deny({
          code: "protected_branch",
          rule: "branch/protected-branch",
          reason: `Branch ${state.branch} is protected (${state.protectedBy}).`,
          hint: "Start a branch for this work, or use Proposal Mode.",
        });
      }
      if (state.sessionBranch !== undefined && state.branch !== state.sessionBranch) {
        return deny({
          code: "branch_moved",
          rule: "branch/branch-moved",
          reason: `HEAD is on ${state.branch}, and this session works on ${state.sessionBranch}.`,
          hint: `Check out ${state.sessionBranch} again.`,
          retryable: true,
        });
      }
      return allow;
  }
}

const alwaysProtected: readonly string[] = ["main", "master", "develop", "release/*", "release/**"];

/** What protects a branch: a built-in name or glob, the remote's default, or one of `extra`; undefined when nothing does. */
export function isProtectedBranch(
  branch: string,
  options: { readonly extra?: readonly string[]; readonly remoteDefault?: string | undefined } = {},
): string | undefined {
  const name = branch.replace(/^refs\/heads\//, "");
  const folded = name.toLowerCase();
  const remoteDefault = options.remoteDefault?.replace(/^(?:refs\/remotes\/)?origin\//, "");
  if (remoteDefault !== undefined && folded === remoteDefault.toLowerCase()) return `default branch of the remote`;
  return [...alwaysProtected, ...(options.extra ?? [])].find(
    (glob) => folded === glob.toLowerCase() || picomatch.isMatch(name, glob, { nocase: true, dot: true }),
  );
}
