import type { ChildProcess } from "node:child_process";

/** Milliseconds within which the output of a killed git has to end. */
const killedMs = 2_000;

/**
 * Ends a git that was started `detached`, so that its `close` event comes. Also kills the process that bubblewrap makes first,
 * which would otherwise wait for its parent for ever.
 */
export function killGit(child: ChildProcess): void {
  killGroup(child);
  // Programs that git started may hold its output open; this ends the wait for them.
  setTimeout(() => {
    for (const stream of child.stdio) stream?.destroy();
  }, killedMs).unref();
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    child.kill("SIGKILL");
  }
}
