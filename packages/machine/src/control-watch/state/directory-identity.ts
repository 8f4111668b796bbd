import { entryAt } from "../../entry-at.ts";
import { bootOf, thisOwner } from "../../process/locks/journal-owner.ts";

/** Identifies a directory, because another directory can appear at its path. */
export interface DirectoryIdentity {
  readonly inode: number;
  readonly device: number;
  /** Creation time in nanoseconds since the epoch; "0" if the file system does not give it. */
  readonly born: string;
  /** Id of the system start during which it was seen. */
  readonly boot: string;
}

/** Undefined if there is no directory at the path, or a link. */
export function directoryIdentity(path: string): DirectoryIdentity | undefined {
  const stat = entryAt(path);
  if (stat?.isDirectory() !== true) return undefined;
  const { ino, dev, birthtimeNs } = stat;
  return { inode: Number(ino), device: Number(dev), born: `${birthtimeNs}`, boot: bootOf(thisOwner()) };
}

/** Device numbers are compared only within one system start, because they change with the next. */
export function isSameDirectory(seen: DirectoryIdentity, now: DirectoryIdentity): boolean {
  if (seen.inode !== now.inode) return false;
  return seen.boot === now.boot ? seen.device === now.device : seen.born !== "0" && seen.born === now.born;
}
