import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileText } from "../../git-data/file-text.ts";
import { readGitIndex } from "../../git-data/git-index.ts";
import { statIfPresent } from "../../stage/files/look-at-entry.ts";

/** What git leaves in its directory while an operation is under way. */
const operations: readonly (readonly [name: string, operation: string])[] = [
  ["rebase-merge", "a rebase"],
  ["rebase-apply/applying", "a series of patches"],
  ["rebase-apply", "a rebase"],
  ["CHERRY_PICK_HEAD", "a cherry-pick"],
  ["REVERT_HEAD", "a revert"],
  ["MERGE_HEAD", "a merge"],
  ["sequencer", "a cherry-pick"],
  ["BISECT_LOG", "a bisection"],
];

/**
 * What a command left under way in git that was not before: an operation, HEAD on no branch, or conflicts in the index; undefined
 * for nothing.
 *
 * @param left git's directory of the work tree, as the command left it
 * @param own the same of the user's
 */
export function operationIn(left: string, own: string): string | undefined {
  // Another repository in its place is judged by itself.
  if (statIfPresent(left)?.isDirectory() !== true) return undefined;
  const operation = operations.find(([name]) => existsSync(join(left, name)) && !existsSync(join(own, name)));
  if (operation !== undefined) return operation[1];
  if (isDetached(left) && !isDetached(own)) return "a visit to a commit";
  return hasConflicts(left, own) ? "a conflict" : undefined;
}

function isDetached(git: string): boolean {
  return /^[0-9a-f]{40,64}\s*$/.test(fileText(join(git, "HEAD"), 4096) ?? "");
}

function hasConflicts(left: string, own: string): boolean {
  const [is, was] = [left, own].map((git) => statIfPresent(join(git, "index")));
  if (is?.isFile() !== true || (is.mtimeNs === was?.mtimeNs && is.size === was.size)) return false;
  const [now, before] = [left, own].map(conflictsIn);
  return now !== undefined && [...now].some((path) => before?.has(path) !== true);
}

function conflictsIn(git: string): ReadonlySet<string> | undefined {
  const file = join(git, "index");
  const index = statIfPresent(file)?.isFile() === true ? readGitIndex(readFileSync(file)) : undefined;
  return index && new Set([...index.keys()].filter((path) => path.includes("\0")));
}
