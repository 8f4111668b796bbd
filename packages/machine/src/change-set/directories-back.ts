import { lstatSync, mkdirSync, rmdirSync } from "node:fs";
import { hasCode, systemErrorCode } from "../system-error.ts";
import { holdDirectory } from "../workspace/files/held-directory.ts";
import { splitRelative } from "../workspace/paths/split-relative.ts";
import type { WorkspaceRoot } from "../workspace/paths/workspace-root.ts";
import { setMode } from "./held-operation.ts";

/** What a command did to a directory itself. */
export interface DirectoryChange {
  /** Relative to the workspace. */
  readonly path: string;
  /** Permission bits; undefined where there was no directory. */
  readonly beforeMode?: number | undefined;
  /** Undefined where there is none any more. */
  readonly afterMode?: number | undefined;
}

/**
 * Takes changes of directories back: makes those that are gone, so that files can go back into them. What others made there
 * stays.
 *
 * @returns to be called when the files are back: gives directories their modes, and removes new ones that are empty. Those that
 * others changed since stay as they are.
 */
export function takeDirectoriesBack(root: WorkspaceRoot, changes: readonly DirectoryChange[]): () => void {
  const net = netOf(changes);
  const made = new Set<string>();
  for (const { path, beforeMode } of net) {
    if (beforeMode !== undefined && inParent(root, path, (place) => mkdirSync(place, 0o700))) made.add(path);
  }
  return () => {
    for (const { path, beforeMode, afterMode } of net.toReversed()) {
      inParent(root, path, (place) => {
        if (beforeMode === undefined) return rmdirSync(place);
        const stat = lstatSync(place);
        if (stat.isDirectory() && (made.has(path) || (stat.mode & 0o777) === afterMode)) setMode(place, beforeMode);
      });
    }
  };
}

/** The first and the last state of each, outermost first. */
function netOf(changes: readonly DirectoryChange[]): readonly DirectoryChange[] {
  const net = new Map<string, DirectoryChange>();
  for (const { path, beforeMode, afterMode } of changes) {
    const first = net.get(path);
    net.set(path, { path, beforeMode: first === undefined ? beforeMode : first.beforeMode, afterMode });
  }
  return [...net.values()]
    .filter(({ beforeMode, afterMode }) => beforeMode !== afterMode)
    .toSorted((one, other) => one.path.length - other.path.length);
}

/** @returns false if the system refused it: something else is there, or nothing, or a directory with content */
function inParent(root: WorkspaceRoot, path: string, act: (place: string) => void): boolean {
  const { parents, name } = splitRelative(path);
  try {
    using parent = holdDirectory(root, parents);
    act(parent.entry(name));
    return true;
  } catch (error) {
    if (systemErrorCode(error) === undefined && !hasCode(error, "path_changed")) throw error;
    return false;
  }
}
