import { chmodSync, closeSync, constants, fstatSync, openSync } from "node:fs";
import { systemErrorCode } from "../../system-error.ts";
import { holdDirectory } from "../../workspace/files/held-directory.ts";
import type { WorkspaceRoot } from "../../workspace/paths/workspace-root.ts";

/**
 * Gives the owner the right to list and change the root and each directory on the way, which a command may have taken away.
 * Follows no link, stops where the way ends, and leaves other users' directories alone.
 */
export function letOwnerIn(root: WorkspaceRoot, components: readonly string[]): void {
  if (process.platform === "win32") return;
  try {
    letIn(root.path);
    for (const [depth, name] of components.entries()) {
      using parent = holdDirectory(root, components.slice(0, depth));
      letIn(parent.entry(name));
    }
  } catch (error) {
    // The caller that goes on there reports the error.
    if (!passable.has(systemErrorCode(error) ?? "")) throw error;
  }
}

function letIn(path: string): void {
  const descriptor = openSync(path, byPath);
  try {
    const { mode, uid } = fstatSync(descriptor);
    if ((mode & 0o700) === 0o700 || uid !== process.geteuid?.()) return;
    chmodSync(process.platform === "linux" ? `/proc/self/fd/${descriptor}` : path, (mode & 0o7777) | 0o700);
  } finally {
    closeSync(descriptor);
  }
}

/** Linux's O_PATH, which Node does not name: it can hold a directory that may not be read. */
const linuxPath = 0o10000000;
const byPath =
  (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0) | (process.platform === "linux" ? linuxPath : 0);
const passable: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM"]);
