import { programFiles } from "./program-files.ts";

const known = new Map<string, ReadonlySet<string>>();

/** Letters of a program's short options that are known to take no value; none for a program nobody knows. */
export function shortFlags(program: string): ReadonlySet<string> {
  let flags = known.get(program);
  if (flags === undefined) {
    flags = flagsOf(program);
    if (flags.size > 0) known.set(program, flags);
  }
  return flags;
}

/**
 * What may be a value joined to a cluster of short options: nothing for `-rf` where both are flags, `.env` for `-f.env`.
 * Where the letter in front of it is not known, it could also begin earlier: then both are told.
 */
export function joinedValues(cluster: string, flags: ReadonlySet<string>): readonly string[] {
  let index = 1;
  while (flags.has(cluster[index] ?? "")) index += 1;
  const letter = /^[A-Za-z0-9]$/.test(cluster[index] ?? "");
  const rest = cluster.slice(letter || index === 1 ? index + 1 : index);
  // `-xzf`: whatever the last letter is, its value would be the next word.
  if (rest === "") return [];
  return index === 1 ? [rest] : [cluster.slice(2), rest];
}

function flagsOf(program: string): ReadonlySet<string> {
  return new Set(programFiles(program)?.flags);
}
