import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { shownName } from "@gennai/governance/shown-names";
import { statIfPresent } from "@gennai/machine/entries/look-at-entry";
import { fileText } from "@gennai/machine/git-data/file-text";
import { readGitIndex } from "@gennai/machine/git-data/git-index";
import { RefValues } from "@gennai/machine/git-data/ref-values";

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

/** Git's directories of one work tree. */
interface GitPlace {
  /** That of the work tree. */
  readonly own: string;
  /** The one that all work trees share. */
  readonly common: string;
}

/**
 * What a command left under way in git that was not before: an operation, HEAD on no branch or on another one of the user's,
 * or conflicts in the index; undefined for nothing.
 *
 * @param left as the command left it
 * @param users as it is for the user
 * @param isOwnBranch whether the session works on a branch
 */
export function operationIn(
  left: GitPlace,
  users: GitPlace,
  isOwnBranch: (name: string) => boolean,
): string | undefined {
  const [is, was] = [left.own, users.own];
  // Another repository in its place is judged by itself.
  if (statIfPresent(is)?.isDirectory() !== true) return undefined;
  const operation = operations.find(([name]) => existsSync(join(is, name)) && !existsSync(join(was, name)));
  if (operation !== undefined) return operation[1];
  if (isDetached(is) && !isDetached(was)) return "a visit to a commit";
  if (hasConflicts(is, was)) return "a conflict";
  const visited = visitedBranch(left, users);
  return visited === undefined || isOwnBranch(visited) ? undefined : `a visit to ${shownName(visited)}`;
}

/** The user's branch that HEAD was moved to, while it is as it was: a commit there is to be judged. */
function visitedBranch(left: GitPlace, users: GitPlace): string | undefined {
  const branch = new RefValues(left.own).branch("HEAD");
  const before = new RefValues(users.own).branch("HEAD");
  if (branch === undefined || before === undefined || branch === before) return undefined;
  const [is, was] = [left, users].map(({ common }) => new RefValues(common).value(`refs/heads/${branch}`));
  return was !== undefined && is === was ? branch : undefined;
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
  return index && new Set([...index.keys()].filter((key) => /\0[1-3]/.test(key)));
}
