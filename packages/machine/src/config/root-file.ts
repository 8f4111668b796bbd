import { constants, type Stats } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { join, parse, sep } from "node:path";
import { UnsafeFileError } from "../private-file.ts";
import { hasCode, ifMissing } from "../system-error.ts";

const maxBytes = 256 * 1024;

/** Where an administrator's files for all users of this machine lie. No variable and no option moves them. */
export function rootDirectory(platform: NodeJS.Platform): string {
  // Not ProgramData: any user may create directories there.
  if (platform === "win32") return "C:\\Program Files\\Gennai";
  return platform === "darwin" ? "/Library/Application Support/Gennai" : "/etc/gennai";
}

/**
 * UTF-8 text of a file that only root can change, in directories of the same kind up to the top, without links; undefined if it does not
 * exist. Throws `UnsafeFileError`, and the file system's own errors.
 */
export async function readRootFile(path: string): Promise<string | undefined> {
  try {
    await assertRootDirectory(join(path, ".."));
    // By one handle, and without waiting for the writer of a named pipe.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    await using file = await open(path, flags);
    const stat = await file.stat();
    assertRoots(path, stat);
    if (!stat.isFile()) throw new UnsafeFileError(`${path} is not a regular file; replace it by one`);
    if (stat.size > maxBytes) throw new UnsafeFileError(`${path} is larger than ${maxBytes / 1024} KiB; split it`);
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.readFile());
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    if (hasCode(error, "ELOOP")) throw new UnsafeFileError(`${path} is a link; put the file itself there`);
    if (hasCode(error, "ERR_ENCODING_INVALID_ENCODED_DATA")) {
      throw new UnsafeFileError(`${path} is not UTF-8 text; save it as UTF-8`);
    }
    throw error;
  }
}

/** Names in a directory that only root can change, sorted; none if it does not exist. Throws as above. */
export async function listRootDirectory(path: string): Promise<readonly string[]> {
  const names: readonly string[] = await assertRootDirectory(path)
    .then(() => readdir(path))
    .catch(ifMissing([]));
  return names.toSorted();
}

/** From the top down: whoever can change a directory can replace all in it. */
async function assertRootDirectory(path: string): Promise<void> {
  // Where nothing is, which is so on most machines, one look is enough.
  await lstat(path);
  const { root } = parse(path);
  let at = root;
  for (const part of ["", ...path.slice(root.length).split(sep)].filter((name, index) => index === 0 || name !== "")) {
    at = join(at, part);
    const stat = await lstat(at);
    if (stat.isSymbolicLink()) throw new UnsafeFileError(`${at} is a link; put a directory there`);
    if (!stat.isDirectory()) throw new UnsafeFileError(`${at} is not a directory; replace it by one`);
    assertRoots(at, stat);
  }
}

function assertRoots(path: string, { uid, mode }: Stats): void {
  // Windows has neither user ids nor mode bits: there, the access list of Program Files protects the files.
  if (process.getuid === undefined) return;
  if (uid !== 0) throw new UnsafeFileError(`${path} does not belong to root; run chown root:root ${path}`);
  if ((mode & 0o022) !== 0) throw new UnsafeFileError(`${path} can be changed by others; run chmod go-w ${path}`);
}
