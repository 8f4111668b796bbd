import { type BranchState, isProtectedBranch } from "@gennai/governance/policies/branch";
import { defaultRemoteBranch, readGitHead } from "../../workspace/git-head.ts";

interface BranchPlace {
  /** Where git's files are read. */
  readonly controlRoot: string;
  /** Branch that HEAD stood on when the turn began. */
  readonly sessionBranch: string | undefined;
  /** Globs of branches nobody writes on, besides those that are always protected. */
  readonly protectedBranches: readonly string[];
}

/** Where HEAD is now. */
export function branchState({ controlRoot, sessionBranch, protectedBranches }: BranchPlace): BranchState {
  const head = readGitHead(controlRoot);
  if (head.type !== "branch") return { type: head.type };
  const protectedBy = isProtectedBranch(head.branch, {
    extra: protectedBranches,
    remoteDefault: defaultRemoteBranch(controlRoot),
  });
  return { type: "branch", branch: head.branch, sessionBranch, protectedBy };
}

/** Whether HEAD is on the branch this session may write on. */
export function isOwnBranch(state: BranchState): boolean {
  if (state.type !== "branch" || state.protectedBy !== undefined) return false;
  return state.sessionBranch === undefined || state.branch === state.sessionBranch;
}
