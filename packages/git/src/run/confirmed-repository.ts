import { existsSync, lstatSync, readFileSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { repositoryAt } from "@gennai/machine/host/repository-paths";
import { isWithin } from "@gennai/protocol/is-within";

/** The repository around a directory, with every place that git's data leads to. Real absolute paths. */
export interface ConfirmedRepository {
  /** Its working tree: the main one, a linked one, or that of a submodule. */
  readonly workTree: string;
  /** Directories of git's own data, which may lie elsewhere. */
  readonly data: readonly string[];
}

/** The repository's data leads git to a place that does not refer back to it. Git is not run there. */
export class UnsafeRepository extends Error {
  override readonly name = "UnsafeRepository";
}

/**
 * Finds the repository like git, and confirms what its files claim: their author must not lead git to another repository's
 * data. Undefined if there is none; one around the user's home does not count for a directory in it. Throws `UnsafeRepository`.
 *
 * @param directory real path
 */
export function confirmedRepository(directory: string, home: string | undefined): ConfirmedRepository | undefined {
  for (let at = directory; ; at = dirname(at)) {
    if (at !== directory && home !== undefined && isWithin(home, { directory: at })) return undefined;
    const found = repositoryIn(at);
    if (found !== undefined) return found;
    if (dirname(at) === at) return undefined;
  }
}

function repositoryIn(workTree: string): ConfirmedRepository | undefined {
  const pointer = join(workTree, ".git");
  const stat = lstatSync(pointer, { throwIfNoEntry: false });
  // Git ignores a directory of this name that holds no repository.
  if (stat === undefined || (stat.isDirectory() && !existsSync(join(pointer, "HEAD")))) return undefined;
  const data = repositoryAt(pointer)?.writable ?? (stat.isFile() ? submoduleData(pointer) : undefined);
  const [common] = data ?? [];
  if (data === undefined || common === undefined) {
    throw new UnsafeRepository(`${pointer} leads to a repository that does not name this working tree in return.`);
  }
  if (existsSync(join(common, "commondir"))) {
    throw new UnsafeRepository(`${join(common, "commondir")} leads to the data of another repository. Remove it.`);
  }
  const borrowed = borrowedObjects(join(common, "objects"), [workTree, common]);
  if (borrowed !== undefined) {
    throw new UnsafeRepository(
      `The repository borrows objects from ${borrowed}. Copy them: git repack -a -d && rm ${join(common, "objects/info/alternates")}`,
    );
  }
  return { workTree, data };
}

/** A submodule's `.git` names its data in the repository around it, whose settings name the working tree in return. */
function submoduleData(pointer: string): readonly string[] | undefined {
  try {
    const named = /^gitdir: (.+)$/.exec(readFileSync(pointer, "utf8").trim())?.[1] ?? "";
    const data = realpathSync(resolve(dirname(pointer), named));
    const [, workTree] = /^\s*worktree = ([^"\n]+)$/m.exec(readFileSync(join(data, "config"), "utf8")) ?? [];
    if (workTree === undefined || existsSync(join(data, "gitdir"))) return undefined;
    return realpathSync(resolve(data, workTree)) === dirname(pointer) ? [data] : undefined;
  } catch {
    return undefined;
  }
}

/** The first place of objects outside of these directories; undefined if all are within. */
function borrowedObjects(objects: string, within: readonly string[], depth = 0): string | undefined {
  const list = join(objects, "info", "alternates");
  if (!existsSync(list)) return undefined;
  for (const line of readFileSync(list, "utf8").split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const place = isAbsolute(line) ? line : resolve(objects, line);
    const real = existsSync(place) ? realpathSync(place) : place;
    // Git itself follows a chain of five.
    if (depth > 5 || !within.some((directory) => isWithin(real, { directory }))) return place;
    const further = borrowedObjects(real, within, depth + 1);
    if (further !== undefined) return further;
  }
  return undefined;
}
