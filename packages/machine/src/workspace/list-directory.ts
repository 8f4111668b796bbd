import { type Dirent, readdirSync } from "node:fs";
import type { WorkspacePath } from "@gennai/governance/effect";
import { fileFailure } from "./files/file-failure.ts";
import { holdDirectory } from "./files/held-directory.ts";
import { temporaryPrefix } from "./files/held-file.ts";
import { insideOnly } from "./paths/inside-only.ts";
import { componentsOf } from "./paths/split-relative.ts";
import type { WorkspaceRoot } from "./paths/workspace-root.ts";
import { expandBraces, matchesName } from "./search/name-glob.ts";
import type { Listing } from "./workspace.ts";

/**
 * `Workspace.list` on the disk: the entries of one directory, by name. `ignore` are globs of names (`node_modules`, `*.log`); with a slash inside they are relative to the root.
 */
export function listDirectory(
  root: WorkspaceRoot,
  path: WorkspacePath,
  options: { readonly ignore: readonly string[]; readonly limit: number },
): Listing {
  const { relative } = insideOnly(path);
  const ignore = options.ignore.flatMap((glob) => expandBraces(glob) ?? []).map(trim);
  const prefix = relative === "" ? "" : `${relative}/`;
  const kept = readEntries(root, relative)
    .filter(
      ({ name }) =>
        !name.startsWith(temporaryPrefix) &&
        !ignore.some((glob) => matchesName(glob, glob.includes("/") ? prefix + name : name)),
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    entries: kept.slice(0, options.limit).map((entry) => ({ name: entry.name, kind: kindOf(entry) })),
    truncated: kept.length > options.limit,
  };
}

function readEntries(root: WorkspaceRoot, relative: string): Dirent[] {
  try {
    using directory = holdDirectory(root, componentsOf(relative));
    return readdirSync(directory.path, { withFileTypes: true });
  } catch (error) {
    throw fileFailure(error, "list", relative);
  }
}

function trim(glob: string): string {
  return glob.replace(/^(?:\.\/|\/|\*\*\/)+/, "").replace(/(?:\/\*\*?)?\/*$/, "");
}

function kindOf(entry: Dirent): "file" | "directory" | "link" | "other" {
  if (entry.isSymbolicLink()) return "link";
  if (entry.isDirectory()) return "directory";
  return entry.isFile() ? "file" : "other";
}
