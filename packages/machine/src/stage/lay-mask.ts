import { execFile } from "node:child_process";
import { chmodSync, existsSync, linkSync, lstatSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { hasCode } from "../system-error.ts";
import type { Covered } from "./covered-tree.ts";
import { giveWay } from "./give-way.ts";
import { StageUnavailable } from "./stage-error.ts";
import { type LayeredRoot, stageParts } from "./staging-place.ts";
import { systemProgram } from "./system-program.ts";

/**
 * Makes the layer that lies over a root: a whiteout for each hidden path, a copy for each file with logins, and directories
 * on the way to them that look like the real ones. Throws `StageUnavailable` (`no_whiteouts`).
 */
export async function layMask(root: LayeredRoot, covered: Covered): Promise<void> {
  const mask = join(root.directory, stageParts.mask);
  const whiteout = join(root.directory, "whiteout");
  const ways = new Set<string>();
  const makeWay = (path: string): void => {
    const parent = dirname(path);
    if (parent === "." || ways.has(parent)) return;
    makeWay(parent);
    mkdirSync(join(mask, parent), { mode: 0o700 });
    ways.add(parent);
  };
  for (const path of covered.hidden) {
    await giveWay();
    makeWay(path);
    await linkWhiteout(whiteout, join(mask, path));
  }
  const { index } = covered;
  const copies = new Map(covered.copies);
  if (index !== undefined) copies.set(index.path, index.bytes);
  for (const [path, bytes] of copies) {
    makeWay(path);
    writeFileSync(join(mask, path), bytes, { mode: 0o600 });
    lookLike(realIn(root, path), join(mask, path));
  }
  // Deepest first: to add a name changes the time of its directory.
  for (const path of [...ways].toReversed()) lookLike(realIn(root, path), join(mask, path));
  for (const part of [stageParts.mask, stageParts.upper] as const) lookLike(root.path, join(root.directory, part));
}

/** As the command would see it without the mask. */
function realIn({ path: root, layer }: LayeredRoot, path: string): string {
  const layered = layer === undefined ? undefined : join(layer, path);
  return layered !== undefined && existsSync(layered) ? layered : join(root, path);
}

/** Mode and time of the real one. One that went meanwhile needs none. */
export function lookLike(real: string, path: string): void {
  const stat = lstatSync(real, { throwIfNoEntry: false });
  if (stat === undefined) return;
  utimesSync(path, stat.atimeMs / 1000, stat.mtimeMs / 1000);
  chmodSync(path, stat.mode & 0o7777);
}

/** A whiteout is made once, and has many names: Node cannot make one. */
export async function linkWhiteout(whiteout: string, path: string): Promise<void> {
  if (!existsSync(whiteout)) await makeWhiteout(whiteout);
  try {
    linkSync(whiteout, path);
  } catch (error) {
    // It has as many names as the file system lets a file have.
    if (!hasCode(error, "EMLINK")) throw error;
    rmSync(whiteout);
    await linkWhiteout(whiteout, path);
  }
}

/** Any user may make the device 0:0, which says to an overlay that a name is gone. */
async function makeWhiteout(path: string): Promise<void> {
  try {
    await promisify(execFile)(systemProgram("mknod"), [path, "c", "0", "0"], { env: {} });
  } catch (error) {
    if (error instanceof StageUnavailable) throw error;
    throw new StageUnavailable(
      "no_whiteouts",
      `The system lets no whiteout be made in ${dirname(path)}.`,
      "Use Linux 5.11 or newer, and put GENNAI_STATE_DIR on ext4, xfs or btrfs.",
      error,
    );
  }
}
