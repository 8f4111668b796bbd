import { constants } from "node:fs";
import { lstat, mkdir, open, realpath, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { ExpectedError } from "./expected-error.ts";
import { hasCode, ifMissing } from "./system-error.ts";

/** A file or directory that others could read, change or swap. The message says what to do about it. */
export class UnsafeFileError extends ExpectedError {
  override readonly name = "UnsafeFileError";
  readonly code = "unsafe_file";
  readonly isWrongInput = true;
}

const GROUP_OR_OTHERS = 0o077;
const GROUP_OR_OTHERS_WRITE = 0o022;
/** Bytes of the largest file that is read. */
export const privateFileLimit = 1024 * 1024;

/**
 * Text of a file only this user can read, in a directory only this user (or root) can change. Throws `UnsafeFileError` for a
 * link, anything but a regular file, another owner, looser permissions or more than 1 MiB; the file system's own error when
 * it is not there.
 */
export async function readPrivateFile(path: string): Promise<string> {
  await assertSafeDirectory(await realpath(dirname(path)));
  // Not following links and not waiting for a FIFO's writer; all checks are on the handle, so nothing can be swapped after.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  await using file = await open(path, flags).catch((error: unknown) => {
    if (hasCode(error, "ELOOP")) throw new UnsafeFileError(`${path} is a link: name the file itself`);
    throw error;
  });
  const stat = await file.stat();
  if (!stat.isFile()) throw new UnsafeFileError(`${path} is not a regular file`);
  if (!isOwn(stat.uid)) throw new UnsafeFileError(`${path} belongs to another user`);
  if (permissionsMatter && (stat.mode & GROUP_OR_OTHERS) !== 0) {
    throw new UnsafeFileError(`${path} can be reached by other users: run chmod 600 on it`);
  }
  if (stat.size > privateFileLimit) throw new UnsafeFileError(`${path} is larger than 1 MiB`);
  return await file.readFile({ encoding: "utf8" });
}

/** The same; undefined when it is not there. */
export function findPrivateFile(path: string): Promise<string | undefined> {
  return readPrivateFile(path).catch(ifMissing(undefined));
}

/** True for the one caller that took the file away; false when it is not there. */
export function removePrivateFile(path: string): Promise<boolean> {
  return rm(path).then(() => true, ifMissing(false));
}

/** Makes the directory with mode 0700 when it is missing; throws `UnsafeFileError` when others could change what is in it. */
export async function ensurePrivateDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await assertSafeDirectory(path);
}

/** Throws `UnsafeFileError` for a link, another user's directory (root's is fine), or one that group or others can write. */
export async function assertSafeDirectory(path: string): Promise<void> {
  const stat = await lstat(path);
  if (!stat.isDirectory()) throw new UnsafeFileError(`${path} is not a directory`);
  if (!isOwn(stat.uid) && stat.uid !== 0) throw new UnsafeFileError(`the directory ${path} belongs to another user`);
  if (permissionsMatter && (stat.mode & GROUP_OR_OTHERS_WRITE) !== 0) {
    throw new UnsafeFileError(`other users can change the directory ${path}: run chmod 700 on it, or use another one`);
  }
}

/** Windows has neither user ids nor mode bits: there, the profile directory's access list protects the files. */
const permissionsMatter = process.getuid !== undefined;

function isOwn(uid: number): boolean {
  return process.getuid === undefined || process.getuid() === uid;
}
