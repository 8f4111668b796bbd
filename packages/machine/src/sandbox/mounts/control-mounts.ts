import { lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ledgerDirectory } from "@gennai/governance/ledger/ledger-directory";
import { controlPath } from "@gennai/governance/policies/files/control-paths";
import { UnprotectedWorkspace } from "../cover/unprotected-workspace.ts";
import type { RepositoryPaths } from "../host/repository-paths.ts";
import type { MountPoints } from "./mount-points.ts";

/** How the workspace is mounted for one command. */
export interface ControlMounts {
  /** Paths to mount read-only. */
  readonly readOnly: readonly string[];
  /** Mount points for paths that do not exist: directories and files that the command must not create. */
  readonly absentDirectories: readonly string[];
  readonly absentFiles: readonly string[];
  /** Call it when the command has ended. Returns the forbidden paths that it created, and that were removed. */
  release(): readonly string[];
}

const directories = [".vscode", ".gennai", ".pi", ledgerDirectory];
const files = [".intentignore", ".mcp.json"];

/**
 * Protects the workspace's control files from one command, whether they exist or not. A path that does not exist needs a mount
 * point, which exists while commands run and is removed with the last of them. Throws `UnprotectedWorkspace` if a control path is
 * a link, because nothing can be mounted on a link, and it could be replaced.
 *
 * @param journal remembers mount points across a crash
 */
export function takeControlMounts(
  workspaceRoot: string,
  repository: RepositoryPaths | undefined,
  journal: MountPoints,
): ControlMounts {
  const readOnly = new Set<string>();
  const absentDirectories: string[] = [];
  const absentFiles: string[] = [];
  const protect = (path: string, kind: "directory" | "file"): void => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat?.isSymbolicLink())
      throw new UnprotectedWorkspace(`${path} is a symbolic link, which cannot be protected.`);
    if (stat !== undefined && !journal.isOurs(path)) readOnly.add(path);
    else (kind === "directory" ? absentDirectories : absentFiles).push(path);
  };
  for (const path of repository?.keptEmpty ?? []) protect(path, "directory");
  for (const path of repository?.readOnly ?? []) {
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined && !absentDirectories.includes(path))
      protect(path, "file");
  }
  if (repository === undefined && lstatSync(join(workspaceRoot, ".git"), { throwIfNoEntry: false }) !== undefined) {
    protect(join(workspaceRoot, ".git"), "directory");
  }
  for (const name of directories) protect(join(workspaceRoot, name), "directory");
  for (const name of files) protect(join(workspaceRoot, name), "file");
  for (const name of readdirSync(workspaceRoot)) {
    if (name !== ".git" && !directories.includes(name) && !files.includes(name) && isProtected(name)) {
      protect(join(workspaceRoot, name), "directory");
    }
  }
  const watched = (repository?.mayNotAppear ?? []).filter(
    (path) => lstatSync(path, { throwIfNoEntry: false }) === undefined,
  );
  const lease = journal.take({ directories: absentDirectories, files: absentFiles });
  let released = false;
  return {
    readOnly: [...readOnly],
    absentDirectories,
    absentFiles,
    release() {
      if (released) return [];
      released = true;
      lease[Symbol.dispose]();
      return watched.filter(removed);
    },
  };
}

function isProtected(name: string): boolean {
  return controlPath(name)?.level === "protected";
}

function removed(path: string): boolean {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false;
  rmSync(path, { recursive: true, force: true });
  return true;
}
