import {
  chmodSync,
  constants,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { copyFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type SeenIdentity, seenIdentity } from "@gennai/machine/change-set/set-journal";
import { giveWay } from "@gennai/machine/entries/give-way";
import { identityOf, modeOf } from "@gennai/machine/entries/look-at-entry";
import { systemErrorCode } from "@gennai/machine/system-error";
import type { StageEffect } from "../observe/effect.ts";
import { type StagedRoot, stageParts } from "../transaction/staged-root.ts";
import type { PlannedChange } from "./plan-commit.ts";

/**
 * Prepares a new file under a name in `fresh`: what the command left, without overlay marks, with its modes and times. The
 * overlays must not be mounted any more.
 *
 * @param edit changes the bytes of a file
 */
export async function makeFresh(
  root: StagedRoot,
  name: string,
  change: PlannedChange,
  edit?: (bytes: Uint8Array) => Uint8Array,
): Promise<SeenIdentity> {
  const { effect, below, isWhole } = change;
  const fresh = join(root.directory, stageParts.fresh, name);
  if (effect.after?.type === "file" && edit !== undefined) editStaged(root, effect, edit);
  if (effect.after?.type !== "directory") await bring(root, effect, fresh);
  else if (isWhole) move(join(root.directory, stageParts.upper, effect.path), fresh);
  else {
    const directories = [effect, ...below.filter(({ after }) => after?.type === "directory")];
    const at = ({ path }: StageEffect) => join(fresh, path.slice(effect.path.length));
    for (const directory of directories) {
      // The content that could not be moved along with its directory.
      letWrite(join(root.directory, stageParts.upper, directory.path));
      mkdirSync(at(directory), { mode: 0o700 });
    }
    for (const one of below) {
      await giveWay();
      if (one.after?.type !== "directory") await bring(root, one, at(one));
    }
    for (const directory of directories.toReversed()) lookLikeStaged(root, directory, at(directory));
  }
  giveOwner(join(root.path, effect.path), fresh);
  const stat = lstatSync(fresh, { bigint: true });
  // While it is prepared, the entry may need another mode than its final one.
  const mode = effect.after !== undefined && "mode" in effect.after ? effect.after.mode : modeOf(stat);
  return seenIdentity({ ...identityOf(stat), mode, type: effect.after?.type ?? "other" });
}

/**
 * Gives a replaced entry the owner that it had, because root may change files of others, and its group; a new one the group of a
 * directory that is shared with one.
 */
function giveOwner(real: string, fresh: string): void {
  const was = lstatSync(real, { throwIfNoEntry: false });
  const directory = lstatSync(dirname(real), { throwIfNoEntry: false });
  const isShared = directory !== undefined && (directory.mode & 0o2000) !== 0;
  const owner = process.geteuid?.() === 0 ? was?.uid : undefined;
  if (was !== undefined) own(fresh, owner, was.gid);
  else if (isShared) ownTree(Buffer.from(fresh), owner, directory.gid);
}

function ownTree(path: Buffer, owner: number | undefined, group: number): void {
  own(path, owner, group);
  if (!lstatSync(path).isDirectory()) return;
  for (const name of readdirSync(path, { encoding: "buffer" }))
    ownTree(Buffer.concat([path, Buffer.from("/"), name]), owner, group);
}

function own(path: string | Buffer, owner: number | undefined, group: number): void {
  const { uid, gid, mode } = lstatSync(path);
  if (gid === group && (owner === undefined || uid === owner)) return;
  try {
    lchownSync(path, owner ?? uid, group);
  } catch (error) {
    // A user gives files to groups of their own only. As after any program that replaces a file, it keeps theirs.
    if (systemErrorCode(error) !== "EPERM") throw error;
    return;
  }
  // A change of owner clears the set-id bits.
  if ((mode & 0o6000) !== 0) chmodSync(path, mode & 0o7777);
}

function editStaged(root: StagedRoot, { path }: StageEffect, edit: (bytes: Uint8Array) => Uint8Array): void {
  const staged = join(root.directory, stageParts.upper, path);
  const { atimeMs, mtimeMs } = lstatSync(staged);
  writeFileSync(staged, edit(readFileSync(staged)));
  utimesSync(staged, atimeMs / 1000, mtimeMs / 1000);
}

/**
 * Moves a file or a link to `to`. A file that came from the user's tree, or is another name of one that may have, is copied,
 * because the overlay's marks must stay behind.
 */
async function bring(root: StagedRoot, effect: StageEffect, to: string): Promise<void> {
  const from = join(root.directory, stageParts.upper, effect.path);
  const { before, after, movedFrom } = effect;
  const isNew = before === undefined && movedFrom === undefined;
  if (after?.type !== "file" || (isNew && lstatSync(from).nlink === 1)) return move(from, to);
  chmodSync(from, 0o600);
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const { atimeMs, mtimeMs } = lstatSync(from);
  utimesSync(to, atimeMs / 1000, mtimeMs / 1000);
  chmodSync(to, after.mode);
}

function move(from: string, to: string): void {
  letWrite(dirname(from));
  const stat = lstatSync(from);
  if (stat.isDirectory()) letWrite(from);
  renameSync(from, to);
}

/** Makes a directory writable that the command may have closed; its final mode comes from the effects. */
function letWrite(directory: string): void {
  const mode = lstatSync(directory).mode & 0o7777;
  if ((mode & 0o700) !== 0o700) chmodSync(directory, mode | 0o700);
}

function lookLikeStaged(root: StagedRoot, effect: StageEffect, path: string): void {
  const { atimeMs, mtimeMs } = lstatSync(join(root.directory, stageParts.upper, effect.path));
  utimesSync(path, atimeMs / 1000, mtimeMs / 1000);
  if (effect.after?.type === "directory") chmodSync(path, effect.after.mode);
}
