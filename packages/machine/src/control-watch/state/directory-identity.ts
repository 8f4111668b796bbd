import { entryAt } from "../../entry-at.ts";
import { bootOf, thisOwner } from "../../process/locks/journal-owner.ts";

/** By what a directory is known again: a path can come to mean another one. */
export interface DirectoryIdentity {
  readonly inode: number;
  readonly device: number;
  /** When it was made, in nanoseconds since the epoch; "0" where the file system does not say. */
  readonly born: string;
  /** The run of the machine in which it was seen. */
  readonly boot: string;
}

/** Undefined if there is no directory, or only a link to one. */
export function directoryIdentity(path: string): DirectoryIdentity | undefined {
  const stat = entryAt(path);
  if (stat?.isDirectory() !== true) return undefined;
  const { ino, dev, birthtimeNs } = stat;
  return { inode: Number(ino), device: Number(dev), born: `${birthtimeNs}`, boot: bootOf(thisOwner()) };
}

/** Devices get their numbers anew when the machine starts, so that only within one run they tell directories apart. */
export function isSameDirectory(seen: DirectoryIdentity, now: DirectoryIdentity): boolean {
  if (seen.inode !== now.inode) return false;
  return seen.boot === now.boot ? seen.device === now.device : seen.born !== "0" && seen.born === now.born;
}
