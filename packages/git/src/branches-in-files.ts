import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readGitHead } from "@gennai/machine/git-data/git-head";
import { readLooseRef } from "@gennai/machine/git-data/git-refs";
import { plainRepository } from "./plain-repository.ts";

export interface BranchesInFiles {
  readonly current: string;
  /** Branches that the remotes call their default. */
  readonly remoteDefaults: readonly string[];
}

/**
 * The branches of a working tree as git would report them, without starting it. Undefined if git might see them differently: then
 * ask git.
 *
 * @param directory the root of the working tree
 */
export function branchesInFiles(directory: string): BranchesInFiles | undefined {
  try {
    const data = plainRepository(directory);
    if (data === undefined) return undefined;
    const head = readGitHead(dirname(data));
    const isOnBranch = looseRef(data, "HEAD").startsWith("ref: refs/heads/");
    if (!isOnBranch || head.type !== "branch" || head.commit === undefined) return undefined;
    return { current: head.branch, remoteDefaults: remoteDefaults(data) };
  } catch {
    return undefined;
  }
}

/** Throws if a ref of a remote's default cannot be understood. */
function remoteDefaults(data: string): readonly string[] {
  return refsBelow(data, "refs/remotes")
    .filter((name) => name.endsWith("/HEAD"))
    .map((name) => {
      const [, target] = /^ref: refs\/remotes\/[^/]+\/(.+)$/.exec(looseRef(data, name)) ?? [];
      if (target === undefined || target.endsWith("/HEAD") || target === "HEAD")
        throw new Error(`${name} leads to another symbolic reference.`);
      return target;
    });
}

function refsBelow(data: string, directory: string): readonly string[] {
  if (lstatSync(join(data, directory), { throwIfNoEntry: false }) === undefined) return [];
  const entries = readdirSync(join(data, directory), { withFileTypes: true });
  return entries.flatMap((entry) => {
    const name = `${directory}/${entry.name}`;
    return entry.isDirectory() ? refsBelow(data, name) : [name];
  });
}

function looseRef(data: string, name: string): string {
  const value = readLooseRef(readFileSync(join(data, name), "utf8"));
  if (value === undefined) throw new Error(`${name} cannot be read.`);
  return value;
}
