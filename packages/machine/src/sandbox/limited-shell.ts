import { release } from "node:os";
import { plainShell } from "../process/environment/plain-shell.ts";

/**
 * The first process inside, with the command as its child: limits the processes and threads of its own namespace, which Linux
 * counts separately since 5.14. Earlier versions count all of the user's, so there is no limit there.
 */
export function limitedShell(command: string): readonly string[] {
  return ["/bin/sh", "-c", firstProcess, ...plainShell(command)];
}

/** Shells name this limit by different letters. */
const limit = countsByNamespace(release()) ? "{ ulimit -u 8192 || ulimit -p 8192; } 2>/dev/null; " : "";

/**
 * It stays: a command that were the first process itself would get no signal that it does not handle. Which signal ended the command
 * says its exit code, and not this shell.
 */
const firstProcess = `${limit}{ "$0" "$@" 2>&3 3>&-; } 3>&2 2>/dev/null; exit $?`;

function countsByNamespace(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split(/[.-]/).map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}
