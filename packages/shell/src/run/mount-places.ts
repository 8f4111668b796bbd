import { lstatSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { isWithin } from "@gennai/protocol/is-within";
import type { Stage } from "@gennai/stage/stage";
import type { RunMount } from "@gennai/stage/staged-command";

/**
 * Runs `run` with mounts in the work tree. Where nothing existed, the sandbox makes an empty file as mount point: it is removed
 * afterwards, because the command did not write it.
 */
export async function withMountPlaces<T>(stage: Stage, mounts: readonly RunMount[], run: () => Promise<T>): Promise<T> {
  const [root] = stage.transaction.roots;
  const places = mounts.flatMap(({ path }) =>
    root !== undefined && isWithin(path, { directory: root.path }) ? [relative(root.path, path)] : [],
  );
  if (places.length === 0) return run();
  const absent: string[] = [];
  await stage.change(async (merged) => {
    absent.push(...places.filter((place) => statOf(join(merged, place)) === undefined));
  });
  const result = await run();
  await stage.change(async (merged) => {
    for (const place of absent) {
      const stat = statOf(join(merged, place));
      if (stat?.isFile() === true && stat.size === 0) rmSync(join(merged, place));
    }
  });
  return result;
}

function statOf(path: string) {
  return lstatSync(path, { throwIfNoEntry: false });
}
