import { statfsSync } from "node:fs";

/** By the numbers of the kernel (`statfs(2)`): ext2 to 4, xfs, btrfs, NFS. */
const withTrueTimes: ReadonlySet<number> = new Set([0xef53, 0x58465342, 0x9123683e, 0x6969]);

/**
 * Whether no program can keep a change out of the time of an entry's last change on the file system of `path`. In memory
 * (tmpfs) one can: what it writes into a file by way of a mapping changes no time.
 */
export function timesAreTrue(path: string): boolean {
  return withTrueTimes.has(statfsSync(path).type);
}
