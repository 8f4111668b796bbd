import type { BigIntStats } from "node:fs";
import { modeOf } from "@gennai/machine/entries/look-at-entry";

/**
 * The permission bits with which a command's file or directory may be kept: no more people may read or write an entry than before,
 * and those who read a program may run it. A new one has what the user's umask leaves; in a directory that a group shares, the
 * group may write to it. In git's data nobody loses a right either: git would stop there.
 *
 * @param before the user's entry of the same kind
 * @param directory mode of the directory that holds it
 */
export function keptMode(
  stat: BigIntStats,
  before: BigIntStats | undefined,
  { directory, inGit }: { readonly directory: number; readonly inGit: boolean },
): number {
  const usual = (stat.isFile() ? 0o444 : 0o777) & ~process.umask();
  const atLeast = before === undefined ? usual : modeOf(before) & 0o777;
  const mode = modeOf(stat) | (inGit ? atLeast : 0);
  const setId = stat.isFile() ? mode & 0o6000 : before === undefined ? directory & 0o2000 : modeOf(before) & 0o7000;
  if (before === undefined) {
    const shared = (directory & 0o2020) === 0o2020 ? 0o020 : 0;
    return setId | (mode & 0o777 & ~(process.umask() & ~shared));
  }
  const runs = stat.isFile() && (mode & 0o100) !== 0 ? (modeOf(before) & 0o044) >> 2 : 0;
  return setId | (mode & 0o777 & (modeOf(before) | 0o700 | runs));
}
