import { existsSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { StagedCache } from "../layer/staged-caches.ts";
import { type LayeredRoot, stageParts } from "../transaction/staged-root.ts";

/** `volatile`: nothing in the overlay must be on disk before a commit, and unmounting does not sync the whole disk. */
const mountOptions = "userxattr,volatile,xino=off";

/** First descriptor that names a layer. A shell can name only descriptors of one digit. */
const firstDescriptor = 3;
const lastDescriptor = 9;
const descriptorsOfBatch = lastDescriptor - firstDescriptor + 1;

/**
 * The descriptor by which a root is held from outside, counted down from the last. There are at most three roots of two layers
 * each.
 */
export function heldAt(root: number): number {
  return lastDescriptor - root;
}

/** Overlays that one call of `mount` makes: a root, or some of its caches. */
export interface MountBatch {
  /** Private directory of a root. */
  readonly directory: string;
  /** Name of the file in that directory that lists the mounts. */
  readonly table: string;
  /** Directories of caches, relative to `directory`; empty for a root. */
  readonly caches: readonly string[];
  /** Directories to open, in the order of their descriptors; for a root, its own directory is the first. */
  readonly layers: readonly string[];
  /** Content of the table file. */
  readonly text: string;
}

export interface BatchOptions {
  /** Name of all these overlays in the list of mounts. */
  readonly mountName: string;
  /** Whether the kernel refuses directories that another overlay still uses. */
  readonly index: boolean;
}

/**
 * Says how roots are mounted. Layers are named by descriptors, which have to be opened within the namespace, or by names of ours, so
 * that it does not matter which characters are in a path.
 */
export function rootBatches(roots: readonly LayeredRoot[], options: BatchOptions): readonly MountBatch[] {
  return roots.map(({ path, directory, layer }) => {
    const name = options.index ? "mounts-again" : "mounts";
    const batch = new Batch(directory, name);
    batch.add("", { ours: [stageParts.mask], lower: layer === undefined ? [path] : [path, layer] }, options);
    return batch;
  });
}

/** The mounts of caches. @param directory private, of the root that holds the caches' directories */
export function cacheBatches(
  directory: string,
  caches: readonly StagedCache[],
  options: BatchOptions,
): readonly MountBatch[] {
  const batches: Batch[] = [];
  for (const cache of caches) {
    const lower = cache.kept === undefined ? [cache.below] : [cache.below, cache.kept];
    let batch = batches.at(-1);
    if (batch === undefined || batch.layers.length + lower.length > descriptorsOfBatch) {
      batch = new Batch(directory, `mounts-of-caches-${batches.length}`);
      batches.push(batch);
    }
    const name = relative(directory, cache.directory);
    batch.caches.push(name);
    batch.add(name, { ours: [], lower }, options);
  }
  return batches;
}

class Batch implements MountBatch {
  readonly directory: string;
  readonly table: string;
  readonly caches: string[] = [];
  readonly layers: string[] = [];
  text = "";

  constructor(directory: string, table: string) {
    this.directory = directory;
    this.table = table;
  }

  /** @param lower the lowest layer first */
  add(
    at: string,
    { ours, lower }: { readonly ours: readonly string[]; readonly lower: readonly string[] },
    { mountName, index }: BatchOptions,
  ): void {
    const opened = lower.map((path) => `/proc/self/fd/${firstDescriptor - 1 + this.layers.push(path)}`);
    const [upper, work] = [stageParts.upper, stageParts.work].map((part) => join(at, part));
    const layers = `lowerdir=${[...ours, ...opened.toReversed()].join(":")},upperdir=${upper},workdir=${work}`;
    const options = `${mountOptions},index=${index ? "on" : "off"},${layers}`;
    this.text += `${mountName} ${join(at, stageParts.merged)} overlay ${options} 0 0\n`;
  }
}

/** Writes the table files, unless an earlier run with these directories did. */
export function writeTables(batches: readonly MountBatch[]): void {
  for (const { directory, table, text } of batches) {
    const path = join(directory, table);
    if (!existsSync(path)) writeFileSync(path, text, { mode: 0o600 });
  }
}

/** Arguments of the keeper's shell. */
export function batchArguments(roots: readonly MountBatch[], caches: readonly MountBatch[]): readonly string[] {
  return [
    String(roots.length),
    ...roots.flatMap(({ directory, table, layers: [root = "/", layer = "/"] }, count) => {
      return [directory, table, String(heldAt(count)), root, layer];
    }),
    ...caches.flatMap(({ directory, table, caches: names, layers }) => {
      const opened = Array.from({ length: descriptorsOfBatch }, (_, index) => layers[index] ?? "/");
      return [directory, table, names.join(" "), ...opened];
    }),
  ];
}

/**
 * The keeper's shell script; it gets `mount` and these arguments. Each root is compared with the one held outside. Caches are
 * mounted when the script is told the number of their batches; a cache over which no overlay can be made loses its directory for
 * the overlay.
 */
export const keeperScript = `
echo namespace
mount=$1; roots=$2; shift 2
while [ "$roots" -gt 0 ]; do
  cd "$1" && exec 3<"$4" 4<"$5" || exit 1
  [ /proc/self/fd/3 -ef "/proc/self/fd/$3" ] || { echo "another directory has taken the place of $4" >&2; exit 1; }
  "$mount" -i -n -a -T "$2" || exit 1
  roots=$((roots - 1)); shift 5
done
while exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&- && cd / && echo mounted && read -r batches; do
  while [ "$batches" -gt 0 ]; do
    cd "$1" || exit 1
    table=$2; caches=$3; shift 3
    exec 3<"$1" 4<"$2" 5<"$3" 6<"$4" 7<"$5" 8<"$6" 9<"$7" || exit 1
    "$mount" -i -n -a -T "$table" || for cache in $caches; do
      # What is mounted cannot be removed.
      rmdir "$cache/${stageParts.merged}"
    done 2>/dev/null
    batches=$((batches - 1)); shift 7
  done
done
`;
