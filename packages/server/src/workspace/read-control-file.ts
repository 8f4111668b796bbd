import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { join, sep } from "node:path";

/** A control file that is there and cannot be used. The message begins with the file and says what to do. */
export class UnreadableFile extends Error {
  override readonly name = "UnreadableFile";
}

/**
 * Reads a small text file of the workspace that steers the server, by one handle, so that what was checked is what is read.
 * Throws `UnreadableFile` for one that leads out of the workspace, is no regular file, too large, or not UTF-8, and the
 * system's own error when it cannot be opened.
 *
 * @param root real path of the workspace
 * @param file relative to it
 */
export async function readControlFile(root: string, file: string, maxBytes: number): Promise<string> {
  const real = await realpath(join(root, file));
  if (!isInside(root, real)) throw new UnreadableFile(`${file}: leads out of the workspace; copy the file in`);
  // Non-blocking: opening a named pipe would wait for a writer for ever.
  await using handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const stat = await handle.stat();
  if (!stat.isFile()) throw new UnreadableFile(`${file}: is no regular file`);
  const buffer = Buffer.alloc(maxBytes + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  if (length > maxBytes) throw new UnreadableFile(`${file}: is larger than ${maxBytes / 1024} KiB; split it`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(buffer.subarray(0, length));
  } catch {
    throw new UnreadableFile(`${file}: is not UTF-8 text; save it as UTF-8`);
  }
}

export function isInside(root: string, real: string): boolean {
  return real === root || real.startsWith(root.endsWith(sep) ? root : root + sep);
}
