import { dirname } from "node:path";
import { entryAt } from "../../entry-at.ts";
import { hasCode } from "../../system-error.ts";
import { type HostLayout, isWithin } from "../host/host-layout.ts";
import { boundSockets } from "./bound-sockets.ts";
import type { ControlMounts } from "./control-mounts.ts";

/** One command's world. */
export interface SandboxView {
  readonly layout: HostLayout;
  readonly workspaceRoot: string;
  /** Absent: the workspace is read-only as a whole. */
  readonly control: Omit<ControlMounts, "release"> | undefined;
  /** What git needs of the repository, also where the workspace is read-only. */
  readonly repository: {
    /** The rest of the repository that the workspace is a part of, to be seen and not changed. */
    readonly surroundings: string | undefined;
    readonly data: readonly string[];
    /** What git's private list of files to pass over says here. */
    readonly exclude: { readonly file: string; readonly contents: string } | undefined;
  };
  /** Files and directories whose content is not for the agent. */
  readonly zeroAccess: readonly string[];
  /** Directories of the workspace that stay where they are, under their names; parents first. */
  readonly kept: readonly string[];
  /** Files that have a name outside of the workspace too, or directories of them: not to be changed through this one. */
  readonly linkedOutside: readonly string[];
  /** Directory that the command finds as `/tmp`. */
  readonly temporary: string;
  /** An empty directory. */
  readonly empty: string;
  readonly cwd: string;
}

/** What bubblewrap itself can do on this machine. */
export interface BubblewrapFeatures {
  /** `--disable-userns`: no namespaces within the sandbox. */
  readonly disableUserNamespaces: boolean;
  /** A file with a filter of system calls, which it has to find open as descriptor 3; none where the kernel takes none. */
  readonly filter?: string | undefined;
}

/** Bytes that shared memory may take: some tests and browsers need a good deal. */
const sharedMemorySize = "1073741824";

/** Bytes that the files of a home, which is memory, may take. */
const homeSize = "268435456";

/**
 * Arguments of bubblewrap up to the program to run. Nothing is there but what is named here: later mounts cover earlier
 * ones, so what is hidden comes last.
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
    // What something is mounted on cannot be renamed.
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

/** Everything of a command's world but the user's own files: what of the machine it sees, and that nothing else is shared. */
export function machineArguments(
  { layout, temporary }: Pick<SandboxView, "layout" | "temporary">,
  features: BubblewrapFeatures,
): readonly string[] {
  return [
    ...["--unshare-all", "--unshare-user", ...(features.disableUserNamespaces ? ["--disable-userns"] : [])],
    // The system ends all processes with the first one, and reports its end when the last of them is gone.
    ...["--as-pid-1", "--die-with-parent", "--new-session", "--cap-drop", "ALL"],
    ...(features.filter === undefined ? [] : ["--seccomp", "3"]),
    ...["--proc", "/proc", "--dev", "/dev", "--bind", temporary, "/tmp", "--dir", "/var/tmp"],
    ...["--bind", temporary, "/var/tmp"],
    // Files there are memory, and no process's.
    ...["--size", sharedMemorySize, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"],
    ...(layout.home === undefined ? [] : ["--size", homeSize, "--perms", "0700", "--tmpfs", layout.home]),
    ...layout.links.flatMap(({ path, target }) => ["--symlink", target, path]),
    ...layout.readable.flatMap((path) => ["--ro-bind-try", path, path]),
  ];
}

/** What of the machine stays hidden also within what is visible, and the sockets of its services there. */
export function hideBelow(
  visible: readonly string[],
  { layout, empty }: Pick<SandboxView, "layout" | "empty">,
): readonly string[] {
  return [...new Set([...layout.hidden, ...boundSockets()])]
    .filter((path) => visible.some((directory) => isWithin(path, directory)))
    .flatMap((path) => hide(path, empty));
}

/** The last ones before the program. */
export function startArguments(cwd: string): readonly string[] {
  return ["--setenv", "TMPDIR", "/tmp", "--remount-ro", "/", "--chdir", cwd, "--"];
}

function hide(path: string, empty: string): readonly string[] {
  try {
    const stat = entryAt(path);
    // Nothing can be mounted on a link; what it leads to is hidden by its own name.
    if (stat === undefined || stat.isSymbolicLink()) return [];
    return ["--ro-bind", stat.isDirectory() ? empty : "/dev/null", path];
  } catch (error) {
    // A directory around it is closed to this user, and so to the command; where it is the user's own, the command could open it.
    if (hasCode(error, "EACCES") && dirname(path) !== path) return hide(dirname(path), empty);
    throw error;
  }
}
