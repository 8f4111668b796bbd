import type { AgreedControl } from "@gennai/governance/policies/files/agreed-control";

/** The ref that says which branch of the remote is its default. */
export const remoteHead = "refs/remotes/origin/HEAD";

/** A ref whose value changed. */
export interface RefMove {
  /** `HEAD`, or a full name. */
  readonly ref: string;
  /** For HEAD: its branch now; undefined for a commit. */
  readonly after?: string | undefined;
}

/** Whether the person who let a command run agreed that git moves this ref. */
export function isAgreedMove(
  { ref, after }: RefMove,
  { gitState, gitMoves, gitCommits, gitNames }: AgreedControl,
  options: {
    /** The branch that HEAD was on. */
    readonly before: string | undefined;
    isProtected(branch: string): boolean;
  },
): boolean {
  if (gitState) return true;
  const isNamed = (name: string): boolean => gitNames.includes(name) || gitNames.includes(`refs/heads/${name}`);
  if (ref === remoteHead) return gitMoves || gitNames.includes("origin");
  if (ref !== "HEAD") {
    const branch = ref.replace(/^refs\/heads\//, "");
    return isNamed(branch) || (gitCommits && options.before === branch);
  }
  if (after === undefined) return gitMoves || (gitCommits && options.before === undefined);
  return isNamed(after) || (gitMoves && !options.isProtected(after));
}
