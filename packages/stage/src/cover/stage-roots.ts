import { lstatSync } from "node:fs";
import { repositoryPaths } from "@gennai/machine/host/repository-paths";
import type { WorkspaceRoot } from "@gennai/machine/workspace/paths/workspace-root";
import { isWithin } from "@gennai/protocol/is-within";

/**
 * What must be staged for commands in a workspace: its work tree, which may be larger than the workspace, and git's data if it
 * is elsewhere (a linked worktree). A submodule is part of the work tree around it. Data that does not refer back to this work
 * tree is excluded: a file put into the workspace must not open another repository.
 *
 * @param workspace real path
 * @param home the user's; a repository around it does not count for a directory in it
 */
export function stageRoots(workspace: string, home: string | undefined): readonly WorkspaceRoot[] {
  return stagedDirectories(workspace, home).map((path) => {
    const { dev, ino } = lstatSync(path);
    return { path, device: dev, inode: ino };
  });
}

/** The paths of these roots, the work tree first. */
export function stagedDirectories(
  workspace: string,
  home: string | undefined,
): readonly [workTree: string, ...data: string[]] {
  const repository = repositoryPaths(workspace, home);
  const workTree = repository?.workTree ?? workspace;
  const data = repository?.writable ?? [];
  const elsewhere = data.filter((path) => !isWithin(path, { directory: workTree }));
  const outermost = elsewhere.filter(
    (path) => !elsewhere.some((one) => one !== path && isWithin(path, { directory: one })),
  );
  return [workTree, ...outermost];
}
