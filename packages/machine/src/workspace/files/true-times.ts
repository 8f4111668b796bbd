import { statfsSync } from "node:fs";

/** Numbers of file systems in the kernel (`statfs(2)`): ext2 to 4, xfs, btrfs, NFS. */
const withTrueTimes: ReadonlySet<number> = new Set([0xef53, 0x58465342, 0x9123683e, 0x6969]);

/**
 * Whether every change of a file shows in its ctime, on the file system of `path`. In memory (tmpfs) it does not: writing through
 * a mapping changes no time.
 */
export function timesAreTrue(path: string): boolean {
  return withTrueTimes.has(statfsSync(path).type);
}
