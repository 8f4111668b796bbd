import { join, relative } from "node:path";
import { readObjects } from "@gennai/git/read-objects";
import { statIfPresent } from "@gennai/machine/entries/look-at-entry";
import { readGitHead } from "@gennai/machine/git-data/git-head";
import type { RepositoryPaths } from "@gennai/machine/host/repository-paths";
import { isWithin } from "@gennai/protocol/is-within";
import type { Observation, StageEffect } from "@gennai/stage/observe/effect";
import type { Transaction } from "@gennai/stage/transaction/transaction";
import { mergedOnto } from "./onto-present.ts";

/**
 * Merges, on the stage, what a command left in files with what their user saved while it ran. Both began with a text that is not
 * known, but that came from the last commit's: what both have is no conflict, whether the user's change was in the text that the
 * command read or not. Lines that the user had never committed and took back meanwhile are taken for the command's, so a person
 * decides. A file is left as it is, for the commit to refuse, if both changed the same lines, if nothing of the command's is left,
 * or if there was a commit meanwhile.
 *
 * @returns by effect, the one in its place
 */
export async function mergeSaved(
  transaction: Transaction,
  { effects, markers }: Pick<Observation, "effects" | "markers">,
  repository: RepositoryPaths | undefined,
): Promise<ReadonlyMap<StageEffect, StageEffect>> {
  const saved = effects.filter(
    ({ before, after, flags }) =>
      before?.type === "file" && after?.type === "file" && flags.length === 1 && flags[0] === "changed-by-others",
  );
  if (saved.length === 0 || repository === undefined || !isSameCommit(repository, markers)) return new Map();
  const { workTree } = repository;
  const pathOf = ({ root, path }: StageEffect): string => join(transaction.roots[root]?.path ?? "/", path);
  const tracked = saved.filter((effect) => isWithin(pathOf(effect), { directory: workTree }));
  const onto = new Map<StageEffect, StageEffect>();
  const names = tracked.map((effect) => `HEAD:${relative(workTree, pathOf(effect))}`);
  await readObjects(workTree, names, (at, base) => {
    const effect = tracked[at];
    const merged = effect && mergedOnto(transaction, effect, base);
    if (effect !== undefined && merged !== undefined) onto.set(effect, merged);
    return false;
  });
  // The user's own git may have committed what they saved.
  return isSameCommit(repository, markers) ? onto : new Map();
}

/** Whether HEAD, and its branch, are as they were when the command began. */
function isSameCommit({ workTree, writable }: RepositoryPaths, markers: readonly bigint[]): boolean {
  const [common = "", own = common] = writable;
  const head = readGitHead(workTree);
  const begun = markers.reduce((one, other) => (one < other ? one : other));
  if (head.type !== "branch") return false;
  const files = [join(own, "HEAD"), join(common, "refs/heads", head.branch), join(common, "packed-refs")];
  return files.every((path) => (statIfPresent(path)?.ctimeNs ?? 0n) < begun);
}
