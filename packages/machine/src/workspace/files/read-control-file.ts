import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { isWithin } from "@gennai/protocol/is-within";

/** A control file that exists and cannot be used. The message begins with the file and says what to do. */
export class UnreadableFile extends Error {
  override readonly name = "UnreadableFile";
}

/**
 * Stands for the system's error. One object for all, because making an error costs a stack trace, and most of these files are
 * missing.
 */
const missing = Object.assign(new Error("The file is not there."), { code: "ENOENT" });

/**
 * Reads a small text file of the workspace that steers the server, by one handle, so that what was checked is what is read.
 * Throws `UnreadableFile` for one that leads out of the workspace, is not a regular file, too large, or not UTF-8, and the
 * system's own error when it cannot be opened.
 *
 * @param root real path of the workspace
 * @param file relative to it
 */
export async function readControlFile(root: string, file: string, maxBytes: number): Promise<string> {
  // Synchronous: the file is read before every model call, is small and mostly missing, and another thread would take longer.
  const path = join(root, file);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) throw missing;
  const real = realpathSync.native(path);
  if (!isWithin(real, { directory: root }))
    throw new UnreadableFile(`${file}: leads out of the workspace; copy the file in`);
  // Non-blocking: opening a named pipe would wait for a writer for ever.
  const handle = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  let bytes: Buffer;
  try {
    if (!fstatSync(handle).isFile()) throw new UnreadableFile(`${file}: is no regular file`);
    bytes = readUpTo(handle, maxBytes + 1);
  } finally {
    closeSync(handle);
  }
  if (bytes.length > maxBytes) throw new UnreadableFile(`${file}: is larger than ${maxBytes / 1024} KiB; split it`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UnreadableFile(`${file}: is not UTF-8 text; save it as UTF-8`);
  }
}

function readUpTo(handle: number, most: number): Buffer {
  const buffer = Buffer.alloc(most);
  let length = 0;
  while (length < most) {
    const read = readSync(handle, buffer, length, most - length, length);
    if (read === 0) break;
    length += read;
  }
  return buffer.subarray(0, length);
}
