import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** Ends it as a crash does, and resolves when it is gone. */
export async function killProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
