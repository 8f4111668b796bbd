import { randomBytes } from "node:crypto";
import { type BigIntStats, chmodSync, lstatSync, readdirSync, renameSync, unlinkSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import { hasCode } from "../system-error.ts";
import { giveWay } from "./give-way.ts";

/**
 * Removes a file, or a directory with all its content, whatever a command left: closed directories, names that are not UTF-8,
 * paths longer than the system accepts. Follows no link. A missing path is no error.
 *
 * @param path to which no other process writes
 */
export async function removeTree(path: string): Promise<void> {
  const stat = statOf(path);
  if (stat === undefined) return;
  if (!stat.isDirectory()) return unlinkSync(path);
  chmodSync(path, 0o700);
  const prefix = `${path}/.removing-${randomBytes(6).toString("hex")}-`;
  const waiting = await emptied(Buffer.from(path));
  // Each directory below is moved up here before it is emptied, so that no path grows long.
  for (let count = 0; waiting.length > 0; count += 1) {
    const directory = waiting.pop() ?? Buffer.alloc(0);
    chmodSync(directory, 0o700);
    const lifted = Buffer.from(`${prefix}${count}`);
    renameSync(directory, lifted);
    const below = await emptied(lifted);
    // Where something was mounted, `rmdir` waits until no processor uses the mount any more: asynchronous, so nothing else waits.
    if (below.length === 0) await rmdir(lifted);
    // Try again after the directories below are gone.
    else waiting.push(lifted, ...below);
  }
  await rmdir(path);
}

/** Removes the files of a directory. @returns paths of the directories in it */
async function emptied(directory: Buffer): Promise<Buffer[]> {
  const directories: Buffer[] = [];
  for (const entry of readdirSync(directory, { withFileTypes: true, encoding: "buffer" })) {
    await giveWay();
    const path = Buffer.concat([directory, Buffer.from("/"), entry.name]);
    if (entry.isDirectory()) directories.push(path);
    else unlinkSync(path);
  }
  return directories;
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true });
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ENOTDIR")) return undefined;
    throw error;
  }
}
