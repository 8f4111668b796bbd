import { constants } from "node:fs";
import { lstat, open, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { type Announcements, readAnnouncements } from "@gennai/protocol/discovery";
import { errorMessage } from "@gennai/protocol/error-message";

/** The running servers of a user. A server's token may be sent only after `proveServer` said yes. */
export interface FoundServers extends Pick<Announcements, "servers"> {
  /** Files that were not believed, and why. */
  readonly ignored: readonly { readonly file: string; readonly reason: string; readonly isGone: boolean }[];
}

/**
 * Servers that announced themselves in `<state directory>/servers/<port>.json` and whose process exists, newest first. Never
 * rejects because of the files' content. @param filter.port narrows it to one
 */
export async function announcedServers(
  stateDirectory: string,
  filter: { readonly port?: number } = {},
): Promise<FoundServers> {
  let directory = stateDirectory;
  let names: readonly string[];
  try {
    const root = await realpath(stateDirectory);
    await assertSafeDirectory(root);
    directory = join(root, "servers");
    await assertSafeDirectory(directory);
    names = filter.port === undefined ? await readdir(directory) : [`${filter.port}.json`];
  } catch (error) {
    const ignored = { file: directory, reason: errorMessage(error), isGone: false };
    return { servers: [], ignored: hasCode(error, "ENOENT") ? [] : [ignored] };
  }
  const { servers, ignored } = await readAnnouncements(names, {
    read: (name) =>
      readPrivateFile(join(directory, name)).catch((error: unknown) => {
        if (!hasCode(error, "ENOENT")) throw error;
        return undefined;
      }),
    isRunning,
  });
  return { servers, ignored: ignored.map(({ name, ...why }) => ({ file: join(directory, name), ...why })) };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}

/** A file or directory that others could read, change or replace. */
class UnsafeFileError extends Error {
  override readonly name = "UnsafeFileError";
  readonly code = "unsafe_file";
}

const fileLimit = 64 * 1024;

/**
 * Text of a file that only this user can read. Rejects with `UnsafeFileError` for a link, anything but a regular file, another
 * owner, looser permissions or more than 64 KiB. The directory must be safe, see `assertSafeDirectory`.
 */
async function readPrivateFile(path: string): Promise<string> {
  // Does not follow links or wait for a FIFO's writer; all checks use the handle, so that nothing can be swapped.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  await using file = await open(path, flags).catch((error: unknown) => {
    throw hasCode(error, "ELOOP") ? new UnsafeFileError(`${path} is a link: name the file itself`) : error;
  });
  const stat = await file.stat();
  if (!stat.isFile()) throw new UnsafeFileError(`${path} is not a regular file`);
  if (!isOwn(stat.uid)) throw new UnsafeFileError(`${path} belongs to another user`);
  if (hasModes && (stat.mode & 0o077) !== 0)
    throw new UnsafeFileError(`${path} can be reached by other users: run chmod 600 on it`);
  if (stat.size > fileLimit) throw new UnsafeFileError(`${path} is larger than 64 KiB`);
  return await file.readFile({ encoding: "utf8" });
}

/** Rejects with `UnsafeFileError` for a link, another user's directory (root's is fine), or one that others can write. */
async function assertSafeDirectory(path: string): Promise<void> {
  const stat = await lstat(path);
  if (!stat.isDirectory()) throw new UnsafeFileError(`${path} is not a directory`);
  if (!isOwn(stat.uid) && stat.uid !== 0) throw new UnsafeFileError(`the directory ${path} belongs to another user`);
  if (hasModes && (stat.mode & 0o022) !== 0) {
    throw new UnsafeFileError(`other users can change the directory ${path}: run chmod 700 on it, or use another one`);
  }
}

/** Windows has neither user ids nor mode bits: there, the profile directory's access list protects the files. */
const hasModes = process.getuid !== undefined;

function isOwn(uid: number): boolean {
  return process.getuid === undefined || process.getuid() === uid;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
