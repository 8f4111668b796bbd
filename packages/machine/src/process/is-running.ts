import { systemErrorCode } from "../system-error.ts";

/** False if no process has this number. True if uncertain; another process may have the number by now. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Without a code of the system, it is a number that no process can have.
    return ![undefined, "ESRCH"].includes(systemErrorCode(error));
  }
}
