import { readGitHead } from "@gennai/machine/git-data/git-head";

/**
 * Commit and branch of a workspace as text, only for comparison.
 * @param root where git's files are read: `controlRoot` of the workspace
 */
export function headOf(root: string): string {
  const head = readGitHead(root);
  if (head.type === "none") return "none";
  return JSON.stringify([head.type === "branch" ? head.branch : null, head.commit ?? null]);
}
