import { constants, lstatSync, realpathSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { assertSafeDirectory, UnsafeFileError } from "../private-file.ts";
import { hasCode } from "../system-error.ts";

const maxBytes = 256 * 1024;

/**
 * Text of a file that only this user (or root) can change, in a directory of the same kind; undefined if it does not exist.
 * Links are followed, and their target is checked. Throws `UnsafeFileError`.
 */
export async function readUserFile(path: string): Promise<string | undefined> {
  let real: string;
  try {
    // The file is usually missing, and is checked before every model call.
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
    real = realpathSync.native(path);
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ENOTDIR")) return undefined;
    throw error;
  }
  await assertSafeDirectory(dirname(real));
  // By one handle, and without waiting for the writer of a named pipe.
  await using file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const stat = await file.stat();
  if (!stat.isFile()) throw new UnsafeFileError(`${path} is not a regular file`);
  const self = process.getuid?.();
  if (self !== undefined && stat.uid !== self && stat.uid !== 0) {
    throw new UnsafeFileError(`${path} belongs to another user`);
  }
  if (self !== undefined && (stat.mode & 0o022) !== 0) {
    throw new UnsafeFileError(`${path} can be changed by other users: run chmod go-w on it`);
  }
  if (stat.size > maxBytes) throw new UnsafeFileError(`${path} is larger than ${maxBytes / 1024} KiB`);
  return await file.readFile({ encoding: "utf8" });
}
