import { lstatSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileText } from "@gennai/machine/git-data/file-text";
import { readLooseRef } from "@gennai/machine/git-data/git-refs";
import { type GitSetting, gitSettingsIn } from "@gennai/machine/git-data/git-settings-in";
import { confirmedRepository } from "./run/confirmed-repository.ts";
import { findGit } from "./run/find-git.ts";

/** Bytes of HEAD, and of a configuration. */
const maxBytes = 1024 * 1024;

/**
 * Absolute path of git's data (`.git`) of a working tree in which nothing is unusual: its files can be read without the time of
 * starting git in two sandboxes. Undefined if git might see it differently, or refuse it: then ask git.
 *
 * @param directory the root of the working tree
 */
export function plainRepository(directory: string): string | undefined {
  try {
    const workTree = realpathSync(directory);
    const data = join(workTree, ".git");
    // Git does not trust files of another user.
    const directories = [workTree, ...["", "objects", "refs"].map((name) => join(data, name))];
    if (findGit(process.env) === undefined || !directories.every(isOwnDirectory)) return undefined;
    if (confirmedRepository(workTree, homedir())?.workTree !== workTree) return undefined;
    const [head, settings] = ["HEAD", "config"].map((name) => fileText(join(data, name), maxBytes));
    if (head === undefined || readLooseRef(head) === undefined || settings === undefined) return undefined;
    return gitSettingsIn(settings).every(isUsual) ? data : undefined;
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
  if (name === "core.bare") return value === "false";
  if (name === "core.repositoryformatversion") return value === "0" || value === "1";
  return !/^(?:core\.worktree$|extensions\.|include(?:if)?\.)/.test(name);
}
