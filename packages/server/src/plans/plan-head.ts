import { readGitHead } from "../workspace/git-head.ts";

/** Commit and branch a workspace stands on, as text to compare; the same text means the same place. */
export function headOf(workspaceRoot: string): string {
  const head = readGitHead(workspaceRoot);
  if (head.type === "none") return "none";
  return JSON.stringify([head.type === "branch" ? head.branch : null, head.commit ?? null]);
}
