import { release } from "node:os";

/**
 * How a command begins inside: with a bound on the processes and threads of its own namespace, which the system counts
 * apart from the user's others since Linux 5.14. Before that it would count all of them, so there is none.
 *
 * @param shell absolute path
 */
export function limitedShell(shell: string, command: string): readonly string[] {
  return [shell, "-c", limitedExec, shell, command];
}

const limitedExec = `${countsByNamespace(release()) ? "ulimit -u 8192 2>/dev/null; " : ""}exec "$0" -c "$1"`;

function countsByNamespace(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split(/[.-]/).map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}
