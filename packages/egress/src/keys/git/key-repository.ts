import { existsSync, lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { ToolFailure } from "@gennai/governance/tool-error";
import { type RepositoryPaths, repositoryPaths } from "@gennai/machine/host/repository-paths";
import { isWithin } from "@gennai/protocol/is-within";
import { repositorySettings, type SettingEntries } from "./git-settings-of.ts";

/** The one repository that a git with a login works in. */
export interface KeyRepository {
  /** Absolute path of git's settings file. */
  readonly file: string;
  readonly entries: SettingEntries;
  /** Real path. */
  readonly workTree: string;
  /** Environment that makes git use this repository and search for no other. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * The repository around a directory; undefined if there is none. Rejects with `ToolFailure` (`no_push_target`) if git might use
 * another repository than the one whose settings were read, because the question would then be wrong.
 */
export async function keyRepository(
  directory: string,
  home: string,
  signal: AbortSignal,
): Promise<KeyRepository | undefined> {
  const paths = repositoryPaths(directory, home);
  refuseOthers(directory, paths?.workTree, home);
  if (paths === undefined) return undefined;
  const common = dirname(dirname(paths.excludeFile));
  const file = join(common, "config");
  if (!isFileOrMissing(file)) throw strange(file, "is no file");
  return {
    file,
    entries: await repositorySettings(file, signal),
    workTree: paths.workTree,
    environment: {
      GIT_DIR: gitDirectory(paths, common),
      GIT_COMMON_DIR: common,
      GIT_WORK_TREE: paths.workTree,
    },
  };
}

/** A linked worktree has its own directory besides the shared one. */
function gitDirectory({ writable }: RepositoryPaths, common: string): string {
  return writable.find((path) => path !== common) ?? common;
}

/** Throws if git could find another repository, from a directory up to the intended work tree, or to the home or the top. */
function refuseOthers(directory: string, workTree: string | undefined, home: string): void {
  for (let at = directory; at !== workTree; at = dirname(at)) {
    if (at !== directory && isWithin(home, { directory: at })) return;
    const git = join(at, ".git");
    if (lstatSync(git, { throwIfNoEntry: false }) !== undefined) {
      throw strange(git, "leads to a repository that does not name this directory, as a submodule's does");
    }
    if (["HEAD", "objects", "refs"].every((name) => existsSync(join(at, name)))) {
      throw strange(at, "looks like a repository without a working tree");
    }
    if (dirname(at) === at) return;
  }
}

function isFileOrMissing(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
}

function strange(path: string, what: string): ToolFailure {
  return new ToolFailure("no_push_target", `${path} ${what}, so it is not clear which repository git would use.`, {
    hint: "Run it in a repository's own working tree, or tell the user, who can run it.",
  });
}
