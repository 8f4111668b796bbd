import {
  chmodSync,
  constants,
  copyFileSync,
  type Dirent,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";

export interface CopyTreeOptions {
  /** What is left out, with all that is in it. @param path relative to the tree, with `/` */
  readonly skip: (path: string) => boolean;
  readonly signal: AbortSignal;
}

/** Entries between two looks at the rest of the world. */
const entriesPerBreath = 200;

/**
 * Copies a tree as it is: bytes (shared, where the file system can), modes, times, links as links. Sockets, pipes and devices
 * are left out. Rejects with the signal's reason, or the file system's error; what was copied until then stays.
 *
 * @param to a directory that is there and empty
 * @returns bytes of all files
 */
export async function copyTree(from: string, to: string, { skip, signal }: CopyTreeOptions): Promise<number> {
  let bytes = 0;
  let entries = 0;
  await copyDirectory("");
  return bytes;

  async function copyDirectory(directory: string): Promise<void> {
    for (const entry of readdirSync(join(from, directory), { withFileTypes: true })) {
      entries += 1;
      if (entries % entriesPerBreath === 0) await setImmediate();
      signal.throwIfAborted();
      const path = directory === "" ? entry.name : `${directory}/${entry.name}`;
      if (!skip(path)) await copyEntry(path, entry);
    }
  }

  async function copyEntry(path: string, entry: Dirent): Promise<void> {
    const [source, place] = [join(from, path), join(to, path)];
    if (entry.isSymbolicLink()) return symlinkSync(readlinkSync(source), place);
    if (!entry.isFile() && !entry.isDirectory()) return;
    const like = lstatSync(source);
    if (entry.isFile()) {
      copyFileSync(source, place, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      bytes += like.size;
    } else {
      mkdirSync(place, { mode: 0o700 });
      await copyDirectory(path);
    }
    utimesSync(place, like.atimeMs / 1000, like.mtimeMs / 1000);
    chmodSync(place, like.mode & 0o777);
  }
}
