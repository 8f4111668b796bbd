import { type BranchState, isProtectedBranch } from "@gennai/governance/policies/git/branch";
import { defaultRemoteBranch, readGitHead } from "@gennai/machine/git-data/git-head";

interface BranchRules {
  /** Where git's files are read. */
  readonly controlRoot: string;
  /** Branch that HEAD stood on when the turn began. */
  readonly sessionBranch: string | undefined;
  /** Globs of branches nobody writes on, besides those that are always protected. */
  readonly protectedBranches: readonly string[];
}

/** Where HEAD is now. */
export function branchState(place: BranchRules): BranchState {
  const head = readGitHead(place.controlRoot);
  if (head.type !== "branch") return { type: head.type };
  const { sessionBranch } = place;
  // A turn that began on a protected branch has none to work on until it moves to one.
  const own =
    sessionBranch === undefined || protectionOf(place, sessionBranch) !== undefined ? undefined : sessionBranch;
  return { type: "branch", branch: head.branch, sessionBranch: own, protectedBy: protectionOf(place, head.branch) };
}

/** What protects a branch of this name; undefined when nothing does. */
export function protectionOf(
  { controlRoot, protectedBranches }: Omit<BranchRules, "sessionBranch">,
  branch: string,
): string | undefined {
  return isProtectedBranch(branch, { extra: protectedBranches, remoteDefault: defaultRemoteBranch(controlRoot) });
}

/** Whether HEAD is on the branch this session may write on. */
export function isOwnBranch(state: BranchState): boolean {
  if (state.type !== "branch" || state.protectedBy !== undefined) return false;
  return state.sessionBranch === undefined || state.branch === state.sessionBranch;
}
