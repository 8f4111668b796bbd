import { chmodSync, constants, lstatSync, mkdirSync, readdirSync, type Stats } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join, parse, sep } from "node:path";
import { UnsafeFileError } from "../private-file.ts";
import { replaceFile } from "../replace-file.ts";
import { hasCode } from "../system-error.ts";

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
    if (!isRootDirectory(join(path, ".."))) return undefined;
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

/**
 * Throws `UnsafeFileError` for a file, or a directory above it, that others than root can change or cannot use.
 * @param use what all users do with the file, as bits of a mode: 4 reads it, 1 runs it
 */
export function assertForAll(path: string, use: 1 | 4): void {
  isRootDirectory(dirname(path));
  assertRoots(path, lstatSync(path));
  const { root } = parse(path);
  for (let at = path, bits: number = use; at !== root; at = dirname(at), bits = 1) {
    if ((lstatSync(at).mode & bits) === 0) {
      throw new UnsafeFileError(`${at} cannot be used by all; run chmod go+${bits === 4 ? "r" : "x"} ${at}`);
    }
  }
}

/** Writes a file that all can read, in directories that all can enter, whatever the umask. */
export async function writeRootFile(path: string, text: string): Promise<void> {
  const made = mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  for (let at = dirname(path); made !== undefined && at.length >= made.length; at = dirname(at)) chmodSync(at, 0o755);
  await replaceFile(path, text, { durable: true, mode: 0o644 });
}

/** Names in a directory that only root can change, sorted; none if it does not exist. Throws as above. */
export function listRootDirectory(path: string): readonly string[] {
  return isRootDirectory(path) ? readdirSync(path).toSorted() : [];
}

/**
 * From the top down: whoever can change a directory can replace all in it. False if it does not exist. Asked before every call, so
 * it goes by no other thread.
 */
function isRootDirectory(path: string): boolean {
  // Where nothing is, which is so on most machines, one look is enough.
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false;
  const { root } = parse(path);
  let at = root;
  for (const part of ["", ...path.slice(root.length).split(sep)].filter((name, index) => index === 0 || name !== "")) {
    at = join(at, part);
    const stat = lstatSync(at);
    if (stat.isSymbolicLink()) throw new UnsafeFileError(`${at} is a link; put a directory there`);
    if (!stat.isDirectory()) throw new UnsafeFileError(`${at} is not a directory; replace it by one`);
    assertRoots(at, stat);
  }
  return true;
}

function assertRoots(path: string, { uid, mode }: Stats): void {
  // Windows has neither user ids nor mode bits: there, the access list of Program Files protects the files.
  if (process.getuid === undefined) return;
  if (uid !== 0) throw new UnsafeFileError(`${path} does not belong to root; run chown root:root ${path}`);
  if ((mode & 0o022) !== 0) throw new UnsafeFileError(`${path} can be changed by others; run chmod go-w ${path}`);
}
