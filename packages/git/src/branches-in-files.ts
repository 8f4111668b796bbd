import { dirname } from "node:path";
import { readGitHead } from "@gennai/machine/git-data/git-head";
import { RefValues } from "@gennai/machine/git-data/ref-values";
import { plainRepository } from "./plain-repository.ts";

/** What must be known of existing branches, to choose the one that is worked on. */
export interface Branches {
  /** Undefined if HEAD is on no branch. */
  readonly current: string | undefined;
  /** Branches whose names begin with the wanted one's. */
  readonly likeIt: readonly string[];
  /** Branches that the remotes call their default. */
  readonly remoteDefaults: readonly string[];
}

/**
 * The branches of a working tree as git would report them, without starting it. Undefined if git might see them differently: then
 * ask git.
 *
 * @param directory the root of the working tree
 * @param named the wanted branch
 */
export function branchesInFiles(directory: string, named: string): Branches | undefined {
  try {
    const data = plainRepository(directory);
    if (data === undefined) return undefined;
    const refs = new RefValues(data);
    const head = readGitHead(dirname(data));
    // In the middle of a rebase, HEAD leads to no branch.
    if (head.type !== "branch" || head.commit === undefined || refs.branch("HEAD") !== head.branch) return undefined;
    if (refs.packed === undefined) return undefined;
    const branches = refs.names("refs/heads/").map((name) => name.slice("refs/heads/".length));
    const likeIt = branches.filter((name) => name.startsWith(named));
    return { current: head.branch, likeIt, remoteDefaults: remoteDefaults(refs) };
  } catch {
    return undefined;
  }
}

/** Throws if a ref of a remote's default cannot be understood. */
function remoteDefaults(refs: RefValues): readonly string[] {
  const heads = refs.names("refs/remotes/").filter((name) => name.endsWith("/HEAD"));
  return heads.map((name) => {
    const [, target] = /^ref: refs\/remotes\/[^/]+\/(.+)$/.exec(refs.loose(name) ?? "") ?? [];
    if (target === undefined || target.endsWith("/HEAD") || target === "HEAD")
      throw new Error(`${name} leads to another symbolic reference.`);
    return target;
  });
}
