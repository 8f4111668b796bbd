import { dirname } from "node:path";
import { entryAt } from "../../entry-at.ts";
import { hasCode } from "../../system-error.ts";
import { type HostLayout, isWithin } from "../host/host-layout.ts";
import { boundSockets } from "./bound-sockets.ts";
import type { ControlMounts } from "./control-mounts.ts";

/** What one command sees and may change. */
export interface SandboxView {
  readonly layout: HostLayout;
  readonly workspaceRoot: string;
  /** Undefined if the whole workspace is read-only. */
  readonly control: Omit<ControlMounts, "release"> | undefined;
  /** What git needs of the repository, even if the workspace is read-only. */
  readonly repository: {
    /** The rest of the repository that contains the workspace, read-only. */
    readonly surroundings: string | undefined;
    readonly data: readonly string[];
    /** Content for git's private list of ignore patterns. */
    readonly exclude: { readonly file: string; readonly contents: string } | undefined;
  };
  /** Files and directories whose content is not for the agent. */
  readonly zeroAccess: readonly string[];
  /** Directories of the workspace that must not be renamed; parents first. */
  readonly kept: readonly string[];
  /** Files that also have a name outside of the workspace, or directories of such files: read-only. */
  readonly linkedOutside: readonly string[];
  /** Directory that the command sees as `/tmp`. */
  readonly temporary: string;
  /** An empty directory. */
  readonly empty: string;
  readonly cwd: string;
}

/** What bubblewrap supports on this machine. */
export interface BubblewrapFeatures {
  /** `--disable-userns`: no namespaces within the sandbox. */
  readonly disableUserNamespaces: boolean;
  /** File with a filter of system calls, to be opened as descriptor 3; undefined if the kernel supports none. */
  readonly filter?: string | undefined;
}

/** Bytes of shared memory: some tests and browsers need much. */
const sharedMemorySize = "1073741824";

/** Bytes of files in the home, which is in memory. */
const homeSize = "268435456";

/**
 * Arguments of bubblewrap up to the program to run. Only what they name exists in the sandbox. Later mounts cover earlier ones,
 * so hidden paths come last.
 */
export function bubblewrapArguments(view: SandboxView, features: BubblewrapFeatures): readonly string[] {
  const { layout, workspaceRoot, control, repository } = view;
  const visible = [...layout.readable, workspaceRoot, ...repository.data];
  if (repository.surroundings !== undefined) visible.push(repository.surroundings);
  return [
    ...machineArguments({ layout, temporary: view.temporary }, features),
    ...(repository.surroundings === undefined ? [] : ["--ro-bind", repository.surroundings, repository.surroundings]),
    ...[control === undefined ? "--ro-bind" : "--bind", workspaceRoot, workspaceRoot],
    ...repository.data.flatMap((path) => [control === undefined ? "--ro-bind" : "--bind", path, path]),
    // A mount point cannot be renamed.
    ...view.kept.flatMap((path) => ["--bind", path, path]),
    ...[...(control?.readOnly ?? []), ...view.linkedOutside].flatMap((path) => ["--ro-bind", path, path]),
    ...(control?.absentDirectories ?? []).flatMap((path) => ["--ro-bind", view.empty, path]),
    ...(repository.exclude === undefined ? [] : ["--ro-bind", repository.exclude.contents, repository.exclude.file]),
    ...(control?.absentFiles ?? []).flatMap((path) => ["--ro-bind", "/dev/null", path]),
    ...view.zeroAccess.flatMap((path) => hide(path, view.empty)),
    ...hideBelow(visible, { layout, empty: view.empty }),
    ...startArguments(view.cwd),
  ];
}

/** Arguments for everything except the user's own files: the visible parts of the machine, and namespaces for all else. */
export function machineArguments(
  { layout, temporary }: Pick<SandboxView, "layout" | "temporary">,
  features: BubblewrapFeatures,
): readonly string[] {
  return [
    ...["--unshare-all", "--unshare-user", ...(features.disableUserNamespaces ? ["--disable-userns"] : [])],
    // The kernel ends all processes with the first one, and reports its end after all others are gone.
    ...["--as-pid-1", "--die-with-parent", "--new-session", "--cap-drop", "ALL"],
    ...(features.filter === undefined ? [] : ["--seccomp", "3"]),
    ...["--proc", "/proc", "--dev", "/dev", "--bind", temporary, "/tmp", "--dir", "/var/tmp"],
    ...["--bind", temporary, "/var/tmp"],
    // Files there are in memory, and do not count as memory of a process.
    ...["--size", sharedMemorySize, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"],
    ...(layout.home === undefined ? [] : ["--size", homeSize, "--perms", "0700", "--tmpfs", layout.home]),
    ...layout.links.flatMap(({ path, target }) => ["--symlink", target, path]),
    ...layout.readable.flatMap((path) => ["--ro-bind-try", path, path]),
  ];
}

/** Hides paths of the machine within visible directories, and the sockets of its services there. */
export function hideBelow(
  visible: readonly string[],
  { layout, empty }: Pick<SandboxView, "layout" | "empty">,
): readonly string[] {
  return [...new Set([...layout.hidden, ...boundSockets()])]
    .filter((path) => visible.some((directory) => isWithin(path, directory)))
    .flatMap((path) => hide(path, empty));
}

/** The last arguments before the program. */
export function startArguments(cwd: string): readonly string[] {
  return ["--setenv", "TMPDIR", "/tmp", "--remount-ro", "/", "--chdir", cwd, "--"];
}

function hide(path: string, empty: string): readonly string[] {
  try {
    const stat = entryAt(path);
    // Nothing can be mounted on a link; its target is hidden under its own name.
    if (stat === undefined || stat.isSymbolicLink()) return [];
    return ["--ro-bind", stat.isDirectory() ? empty : "/dev/null", path];
  } catch (error) {
    // Hides the directory above, which this user may not enter: if the user owns it, the command could open it.
    if (hasCode(error, "EACCES") && dirname(path) !== path) return hide(dirname(path), empty);
    throw error;
  }
}
