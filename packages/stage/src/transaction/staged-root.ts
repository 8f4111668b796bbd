import { closeSync, lstatSync, mkdirSync, openSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setParts } from "@gennai/machine/change-set/held-operation";
import { systemErrorCode } from "@gennai/machine/system-error";
import type { WorkspaceRoot } from "@gennai/machine/workspace/paths/workspace-root";
import { StageUnavailable } from "./stage-error.ts";

/** The directories of a transaction for one root, on the file system and the mount of that root. */
export interface StagedRoot extends WorkspaceRoot {
  /** Private directory that holds the others. */
  readonly directory: string;
}

/** A root with a session's layer over it. */
export interface LayeredRoot extends StagedRoot {
  /** Directory of that layer. */
  readonly layer?: string | undefined;
}

/** Names in a root's private directory. */
export const stageParts = {
  /** Upper layer that hides what the command must not see. */
  mask: "mask",
  /** What the command wrote. */
  upper: "upper",
  /** Work directory of the overlay. */
  work: "work",
  /** On a copy, what runs before wrote, while one goes on with it. */
  laid: "laid",
  /** Where the command's view is mounted. */
  merged: "merged",
  ...setParts,
  /** File made just before the command: its ctime is the time of the start. */
  marker: "marker",
  /** The part for the session's layer. */
  layer: "layer",
  /** Files of that part, below `layer`. */
  layerTree: "tree",
  /** What the run wrote into caches of package managers. */
  caches: "caches",
} as const;

/** Paths at which a root's private directory could be; the first usable one is taken. */
export function placesFor(root: WorkspaceRoot, transaction: string, index: number): readonly string[] {
  return [
    join(transaction, `root-${index}`),
    join(dirname(root.path), `.gennai-stage-${basename(transaction)}-${index}`),
  ];
}

/**
 * Makes the private directory of a root, from which a file can be renamed into the root. Throws `StageUnavailable` (`no_place`)
 * if no place is usable.
 */
export function makePlace(root: WorkspaceRoot, places: readonly string[]): StagedRoot {
  for (const directory of places) {
    if (!canHold(dirname(directory), root)) continue;
    try {
      mkdirSync(directory, { mode: 0o700 });
    } catch (error) {
      if (systemErrorCode(error) === undefined) throw error;
      continue;
    }
    for (const part of ["mask", "upper", "work", "merged", "fresh", "old"] as const) {
      mkdirSync(join(directory, stageParts[part]), { mode: 0o700 });
    }
    return { ...root, directory };
  }
  throw new StageUnavailable(
    "no_place",
    `No directory on the file system of ${root.path} can hold what a command writes.`,
    `Put the state directory (GENNAI_STATE_DIR) on the same file system as ${root.path}, or make ${dirname(root.path)} writable.`,
  );
}

/** True if files can be renamed from the directory into the root: same file system, same mount. */
export function canHold(directory: string, root: WorkspaceRoot): boolean {
  try {
    if (lstatSync(directory).dev !== root.device) return false;
    // The kernel compares the mounts before it looks for the file, so this test writes nothing in the root.
    renameSync(join(directory, absent), join(root.path, absent));
  } catch (error) {
    return systemErrorCode(error) === "ENOENT";
  }
  return false;
}

const absent = ".gennai-no-such-file";

/**
 * Makes the marker: every entry of the file system changed after this returned has a ctime that is not older; every entry changed
 * before the call has an older one.
 * @returns the marker's ctime, in nanoseconds
 */
export function makeMarker(root: StagedRoot): bigint {
  const path = join(root.directory, stageParts.marker);
  const first = touch(`${path}.before`);
  // The file system's clock may not advance for some milliseconds.
  for (;;) {
    const next = touch(path);
    if (next > first) return next;
  }
}

function touch(path: string): bigint {
  closeSync(openSync(path, "w", 0o600));
  return lstatSync(path, { bigint: true }).ctimeNs;
}
