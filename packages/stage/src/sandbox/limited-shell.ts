import { release } from "node:os";
import { plainShell } from "@gennai/machine/process/plain-shell";

/**
 * The sandbox's first process, with the command as its child. Limits the processes and threads of its namespace. Linux counts
 * these by namespace since 5.14; earlier versions count all of the user's, so there is no limit there.
 */
export function limitedShell(command: string): readonly string[] {
  return ["/bin/sh", "-c", firstProcess, ...plainShell(command)];
}

/** Shells use different letters for this limit. */
const limit = countsByNamespace(release()) ? "{ ulimit -u 8192 || ulimit -p 8192; } 2>/dev/null; " : "";

/**
 * The shell stays: a command that is the first process itself gets no signal that it does not handle. The exit code tells which
 * signal ended the command; the shell prints nothing about it.
 */
const firstProcess = `${limit}{ "$0" "$@" 2>&3 3>&-; } 3>&2 2>/dev/null; exit $?`;

function countsByNamespace(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split(/[.-]/).map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}
