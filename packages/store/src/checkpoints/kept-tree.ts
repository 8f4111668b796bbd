import * as z from "zod";

const modes = z.record(z.string(), z.int().min(0).max(0o777));

/** A snapshot: a tree of git, and the attributes that git does not store. */
export const keptTreeSchema = z.strictObject({
  /** Object id of the tree. */
  tree: z.string().regex(/^[0-9a-f]{40,64}$/),
  /** Permission bits of most files that are not executable, and of most that are. */
  plain: z.int(),
  executable: z.int(),
  /** Permission bits of the remaining files, by path. */
  modes,
  /** Existing files that were not kept. */
  left: z.array(z.string()),
  /** Digest of the ignore patterns besides the workspace's own files. */
  patterns: z.string(),
});

export type KeptTree = z.infer<typeof keptTreeSchema>;

export function packModes(all: ReadonlyMap<string, number>): Pick<KeptTree, "plain" | "executable" | "modes"> {
  const plain = mostOften([...all.values()].filter((mode) => !isExecutable(mode))) ?? 0o644;
  const executable = mostOften([...all.values()].filter(isExecutable)) ?? 0o755;
  const others = [...all].filter(([, mode]) => mode !== (isExecutable(mode) ? executable : plain));
  return { plain, executable, modes: Object.fromEntries(others) };
}

/** @param gitMode of the tree's entry, e.g. `100644` */
export function modeIn(kept: KeptTree, path: string, gitMode: string): number {
  return (
    (Object.hasOwn(kept.modes, path) ? kept.modes[path] : undefined) ??
    (gitMode === "100755" ? kept.executable : kept.plain)
  );
}

function isExecutable(mode: number): boolean {
  return (mode & 0o100) !== 0;
}

function mostOften(values: readonly number[]): number | undefined {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([one, times], [other, otherTimes]) => otherTimes - times || one - other)[0]?.[0];
}
