import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { overwrite } from "@gennai/machine/file-in-place";
import type { ShadowGit } from "./shadow-git.ts";

/** The tree of the newest snapshot that any process took; undefined if unknown. */
export function newestTree(git: ShadowGit): string | undefined {
  try {
    return readFileSync(newestFile(git), "latin1").trim();
  } catch {
    return undefined;
  }
}

/** The caller holds the lock. */
export function writeNewestTree(git: ShadowGit, tree: string): void {
  if (newestTree(git) === tree) return;
  const line = `${tree}\n`;
  // In its place, where one is: to replace a file has ext4 write its content to the disk at once.
  if (overwrite(newestFile(git), line)) return;
  const draft = join(git.directory, "newest.new");
  writeFileSync(draft, line, { mode: 0o600 });
  renameSync(draft, newestFile(git));
}

/** The caller holds the lock. */
export function forgetNewestTree(git: ShadowGit): void {
  rmSync(newestFile(git), { force: true });
}

function newestFile(git: ShadowGit): string {
  return join(git.directory, "refs", "newest");
}
