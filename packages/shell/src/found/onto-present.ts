import { chmodSync, closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { identityOf } from "@gennai/machine/entries/look-at-entry";
import { pathsInGit } from "@gennai/machine/git-data/git-path";
import { systemErrorCode } from "@gennai/machine/system-error";
import { sha256 } from "@gennai/machine/workspace/files/content-digest";
import { mergedBytes } from "@gennai/protocol/diff/three-way-diff";
import type { StageEffect } from "@gennai/stage/observe/effect";
import { stageParts } from "@gennai/stage/transaction/staged-root";
import type { Transaction } from "@gennai/stage/transaction/transaction";

/** Bytes of one file that is merged or kept in part, and of all that are kept in memory for that. */
export const most = { size: 1024 * 1024, all: 16 * 1024 * 1024 };

/** The bytes of changed files as they were found, so that what their user changes later can be merged. */
export type FoundBefore = ReadonlyMap<StageEffect, Uint8Array>;

/**
 * Call it right after the look. Git's data is left out, and what has flags.
 */
export function foundBefore({ roots }: Transaction, effects: readonly StageEffect[]): FoundBefore {
  const inGits = roots.map(({ path }) => pathsInGit(path));
  const found = new Map<StageEffect, Uint8Array>();
  let left = most.all;
  for (const effect of effects) {
    const { before, after, flags, path } = effect;
    const root = roots[effect.root];
    if (before?.type !== "file" || after?.type !== "file" || root === undefined || flags.length > 0) continue;
    const isOther = before.sha256 !== after.sha256 && before.mode === after.mode;
    const size = Math.max(before.size, after.size);
    if (!isOther || size > most.size || size > left || inGits[effect.root]?.(path) !== undefined) continue;
    const bytes = readPresent(join(root.path, path))?.bytes;
    if (bytes === undefined || sha256(bytes) !== before.sha256) continue;
    found.set(effect, bytes);
    left -= size;
  }
  return found;
}

/**
 * Puts changes of files on top of what their user changed since they were found, on the stage: nothing of the workspace is written. A file
 * of which both changed the same lines is left out, and the commit refuses it.
 * @returns by effect, the one to commit in its place
 */
export function ontoPresent(transaction: Transaction, found: FoundBefore): ReadonlyMap<StageEffect, StageEffect> {
  const onto = new Map<StageEffect, StageEffect>();
  for (const [effect, base] of found) {
    const merged = mergedOnto(transaction, effect, base, effect.before);
    if (merged !== undefined) onto.set(effect, merged);
  }
  return onto;
}

/**
 * Merges one file on the stage.
 *
 * @param base what both began with
 * @param unchanged as which the file needs no merge
 * @returns undefined if there is nothing to merge, both changed the same lines, or nothing of the command's would be left
 */
export function mergedOnto(
  { roots }: Transaction,
  effect: StageEffect,
  base: Uint8Array,
  unchanged?: StageEffect["before"],
): StageEffect | undefined {
  const { before, after, flags, path } = effect;
  const root = roots[effect.root];
  const present = root && readPresent(join(root.path, path));
  if (before?.type !== "file" || after?.type !== "file" || root === undefined || present === undefined)
    return undefined;
  const { bytes: theirs, identity } = present;
  if (identity.mode !== before.mode || Math.max(base.length, theirs.length, after.size) > most.size) return undefined;
  const was = unchanged?.type === "file" ? unchanged.identity : undefined;
  const isSame =
    identity.inode === was?.inode && identity.mtimeNs === was?.mtimeNs && identity.ctimeNs === was?.ctimeNs;
  if (isSame) return undefined;
  const staged = join(root.directory, stageParts.upper, path);
  const { mode, nlink } = lstatSync(staged);
  const merged = nlink > 1 ? undefined : mergedBytes({ base, mine: readFileSync(staged), theirs });
  if (merged === undefined || (unchanged === undefined && Buffer.compare(merged, theirs) === 0)) return undefined;
  rewrite(staged, mode, merged);
  return {
    ...effect,
    flags: flags.filter((flag) => flag !== "changed-by-others"),
    before: { ...before, size: theirs.length, sha256: sha256(theirs), identity },
    after: { ...after, size: merged.length, sha256: sha256(merged) },
  };
}

/** Puts other bytes in the place of what a command left in a file, on the stage. @returns the effect to commit in its place */
export function withBytes({ roots }: Transaction, effect: StageEffect, bytes: Uint8Array): StageEffect {
  const root = roots[effect.root];
  if (effect.after?.type !== "file" || root === undefined) throw new Error("Only a file has other bytes.");
  const staged = join(root.directory, stageParts.upper, effect.path);
  rewrite(staged, lstatSync(staged).mode, bytes);
  return { ...effect, after: { ...effect.after, size: bytes.length, sha256: sha256(bytes) } };
}

function rewrite(staged: string, mode: number, bytes: Uint8Array): void {
  chmodSync(staged, (mode & 0o7777) | 0o600);
  writeFileSync(staged, bytes);
  chmodSync(staged, mode & 0o7777);
}

/** A regular file's bytes and the identity that they belong to; undefined if there is none, or it changes while it is read. */
function readPresent(path: string) {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return undefined;
  }
  try {
    const stat = fstatSync(descriptor, { bigint: true });
    if (!stat.isFile() || stat.nlink !== 1n || stat.size > BigInt(most.size)) return undefined;
    const bytes = readFileSync(descriptor);
    const { ctimeNs } = fstatSync(descriptor, { bigint: true });
    return ctimeNs === stat.ctimeNs ? { bytes, identity: identityOf(stat) } : undefined;
  } finally {
    closeSync(descriptor);
  }
}
