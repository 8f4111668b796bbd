import type { ChildProcess } from "node:child_process";

/** Milliseconds in which the output of a git that was killed has to end. */
const killedMs = 2_000;

/**
 * Ends a git that was started `detached`, so that its `close` comes. With the process that bubblewrap makes first: left alone,
 * that one would wait for its parent for ever.
 */
export function killGit(child: ChildProcess): void {
  killGroup(child);
  // What git itself started may hold its output open, or any other pipe: it has ended when none is open.
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
