import { readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { entryAt } from "@gennai/machine/entry-at";
import type { HostLayout } from "@gennai/machine/host/host-layout";
import { hasCode } from "@gennai/machine/system-error";
import { isWithin } from "@gennai/protocol/is-within";

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

/** Arguments for everything except the user's own files: the visible parts of the machine, and namespaces for all else. */
export function machineArguments(
  { layout, temporary }: { readonly layout: HostLayout; readonly temporary: string },
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
    // Without any capability, root still owns the settings of the kernel, which bubblewrap leaves writable.
    ...["--remount-ro", "/proc"],
    ...(layout.home === undefined ? [] : ["--size", homeSize, "--perms", "0700", "--tmpfs", layout.home]),
    ...layout.links.flatMap(({ path, target }) => ["--symlink", target, path]),
    ...layout.readable.flatMap((path) => ["--ro-bind-try", path, path]),
  ];
}

/** Hides paths of the machine within visible directories, and the sockets of its services there. */
export function hideBelow(
  visible: readonly string[],
  { layout, empty }: { readonly layout: Pick<HostLayout, "hidden">; readonly empty: string },
): readonly string[] {
  return [...new Set([...layout.hidden, ...boundSockets()])]
    .filter((path) => visible.some((directory) => isWithin(path, { directory })))
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

/**
 * Real paths of this machine's socket files, even if no program listens there. A process that may only read a directory can still
 * connect to a socket in it. Does not find sockets of containers, and those bound by a relative path.
 */
function boundSockets(): readonly string[] {
  let table: string;
  try {
    table = readFileSync("/proc/net/unix", "utf8");
  } catch {
    // The kernel has no such sockets.
    return [];
  }
  const bound = new Set<string>();
  // `0000000000000000: 00000002 00000000 00010000 0001 01 21837 /run/docker.sock`; a name that begins with @ is no file.
  for (const [, path = ""] of table.matchAll(/^\S+:(?: \S+){5} +\d+ (\/.*)$/gm)) bound.add(path);
  const paths: string[] = [];
  for (const path of bound) {
    const real = realDirectoryOf(path);
    if (real !== undefined) paths.push(join(real, basename(path)));
  }
  return paths;
}

function realDirectoryOf(path: string): string | undefined {
  try {
    return realpathSync(dirname(path));
  } catch (error) {
    // The socket is below a directory that this user may not enter: uses the part of the path that can be resolved.
    const real = hasCode(error, "EACCES") ? realDirectoryOf(dirname(path)) : undefined;
    return real === undefined ? undefined : join(real, basename(dirname(path)));
  }
}
