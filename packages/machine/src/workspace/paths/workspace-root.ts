import { lstatSync, realpathSync, type Stats, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, parse, resolve } from "node:path";
import { ToolFailure } from "@gennai/governance/tool-error";
import { isWithin } from "@gennai/protocol/is-within";
import { WorkspaceError } from "./workspace-error.ts";

/** The directory a workspace was opened on. A path can come to mean another directory, (device, inode) cannot. */
export interface WorkspaceRoot {
  /** Canonical absolute path. */
  readonly path: string;
  readonly device: number;
  readonly inode: number;
}

/**
 * Canonicalises a directory and judges whether it may be a workspace. Throws `WorkspaceError`: one that holds the user's
 * home, the server's state or the system would hand all of it to tools.
 */
export function openWorkspaceRoot(
  directory: string,
  options: { readonly stateDir: string; readonly home?: string },
): WorkspaceRoot {
  const { path, stat } = canonical(directory);
  if (!stat.isDirectory()) {
    throw new WorkspaceError(
      "workspace_not_a_directory",
      `${directory} is not a directory. Choose a project directory.`,
    );
  }
  const holds = tooBroad(path, realPathOfMissing(options.home ?? homedir()), realPathOfMissing(options.stateDir));
  if (holds !== undefined) {
    throw new WorkspaceError(
      "workspace_too_broad",
      `${path} cannot be a workspace: it ${holds}. Choose the directory of one project.`,
    );
  }
  return { path, device: stat.dev, inode: stat.ino };
}

/** Throws `workspace_replaced` unless `stat` is of the directory that was opened. */
export function checkSameRoot(root: WorkspaceRoot, stat: Stats | undefined): void {
  if (stat?.isDirectory() && stat.dev === root.device && stat.ino === root.inode) return;
  throw new ToolFailure("workspace_replaced", `${root.path} is no longer the directory this session was opened on.`, {
    failureClass: "permission_denied",
    hint: "Stop and tell the user: the workspace was moved, deleted or replaced. A new session has to be opened.",
  });
}

/** Throws `workspace_replaced` if another directory or a link is at the root's path. */
export function checkRootInPlace(root: WorkspaceRoot): void {
  checkSameRoot(root, lstatSync(root.path, { throwIfNoEntry: false }));
}

function canonical(directory: string): { readonly path: string; readonly stat: Stats } {
  try {
    const path = realpathSync.native(directory);
    return { path, stat: statSync(path) };
  } catch (cause) {
    throw new WorkspaceError("workspace_not_found", `${directory} cannot be opened. Choose an existing directory.`, {
      cause,
    });
  }
}

function tooBroad(path: string, home: string, stateDir: string): string | undefined {
  if (path === parse(path).root) return "is the whole file system";
  if (path === home) return "is the home directory";
  if (isWithin(home, { directory: path })) return "contains the home directory";
  if (isWithin(stateDir, { directory: path })) return "contains the server's own state";
  if (systemDirectories.has(path) || kernelDirectories.some((kernel) => isWithin(path, { directory: kernel }))) {
    return "belongs to the operating system";
  }
  return undefined;
}

function realPathOfMissing(path: string): string {
  const absolute = resolve(path);
  try {
    return realpathSync.native(absolute);
  } catch {
    const parent = dirname(absolute);
    return parent === absolute ? absolute : join(realPathOfMissing(parent), basename(absolute));
  }
}

const systemDirectories: ReadonlySet<string> = new Set(
  "/bin /boot /dev /etc /home /lib /lib64 /private /root /sbin /System /Library /Users /Applications /usr /var".split(
    " ",
  ),
);
const kernelDirectories = ["/proc", "/sys"];
