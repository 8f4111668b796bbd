import { type BranchState, isProtectedBranch } from "@gennai/governance/policies/branch";
import { defaultRemoteBranch, readGitHead } from "@gennai/machine/git-data/git-head";

export interface BranchRules {
  /** Directory with git's files. */
  readonly controlRoot: string;
  /** Branch of HEAD when the turn began. */
  readonly sessionBranch: string | undefined;
  /** Globs of protected branches, in addition to those that always are. */
  readonly protectedBranches: readonly string[];
}

/** State of HEAD now. */
export function branchState(place: BranchRules): BranchState {
  const head = readGitHead(place.controlRoot);
  if (head.type !== "branch") return { type: head.type };
  const { sessionBranch } = place;
  // A turn that began on a protected branch may not write until it switches to another.
  const own =
    sessionBranch === undefined || protectionOf(place, sessionBranch) !== undefined ? undefined : sessionBranch;
  return { type: "branch", branch: head.branch, sessionBranch: own, protectedBy: protectionOf(place, head.branch) };
}

/** What protects a branch of this name; undefined if nothing does. */
export function protectionOf(
  { controlRoot, protectedBranches }: Omit<BranchRules, "sessionBranch">,
  branch: string,
): string | undefined {
  return isProtectedBranch(branch, { extra: protectedBranches, remoteDefault: defaultRemoteBranch(controlRoot) });
}
