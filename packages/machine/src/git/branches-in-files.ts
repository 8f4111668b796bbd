import { lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { readGitHead } from "../git-data/git-head.ts";
import { readLooseRef } from "../git-data/git-refs.ts";
import { type GitSetting, gitSettingsIn } from "../git-data/git-settings-in.ts";
import { confirmedRepository } from "./run/confirmed-repository.ts";
import { findGit } from "./run/find-git.ts";

export interface BranchesInFiles {
  readonly current: string;
  /** Branches that the remotes call their default. */
  readonly remoteDefaults: readonly string[];
}

/**
 * The branches of a working tree as git would report them, without the time of starting git in two sandboxes. Undefined if git
 * might see them differently: then ask git.
 *
 * @param directory the root of the working tree
 */
export function branchesInFiles(directory: string): BranchesInFiles | undefined {
  try {
    const workTree = realpathSync(directory);
    const data = join(workTree, ".git");
    // Git does not trust files of another user.
    if (findGit(process.env) === undefined || ![workTree, data].every(isOwnDirectory)) return undefined;
    if (confirmedRepository(workTree, homedir())?.workTree !== workTree) return undefined;
    if (!gitSettingsIn(readFileSync(join(data, "config"), "utf8")).every(isUsual)) return undefined;
    const head = readGitHead(workTree);
    const isOnBranch = looseRef(data, "HEAD").startsWith("ref: refs/heads/");
    if (!isOnBranch || head.type !== "branch" || head.commit === undefined) return undefined;
    return { current: head.branch, remoteDefaults: remoteDefaults(data) };
  } catch {
    return undefined;
  }
}

function isOwnDirectory(path: string): boolean {
  const stat = lstatSync(path);
  return stat.isDirectory() && stat.uid === process.geteuid?.();
}

/** True if the setting does not affect where the working tree is, or how refs are kept. */
function isUsual({ name, value }: GitSetting): boolean {
  return name === "core.bare" ? value === "false" : !/^(?:core\.worktree$|extensions\.|include(?:if)?\.)/.test(name);
}

/** Throws if a ref of a remote's default cannot be understood. */
function remoteDefaults(data: string): readonly string[] {
  return refsBelow(data, "refs/remotes")
    .filter((name) => name.endsWith("/HEAD"))
    .map((name) => {
      const [, target] = /^ref: refs\/remotes\/[^/]+\/(.+)$/.exec(looseRef(data, name)) ?? [];
      if (target === undefined || target.endsWith("/HEAD") || target === "HEAD") throw new Error(`${name} leads on.`);
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
