import { execFileSync } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";

/** What runs in a group of processes, a line each: id, how long it has run, and its command line. */
export function runningIn(group: number): readonly string[] {
  if (!reaches(group, 0)) return [];
  const columns = ["-A", "-o", "pgid=,pid=,etime=,stat=,args="];
  const lines = execFileSync("ps", columns, { encoding: "utf8", timeout: 10_000, maxBuffer: 1 << 26 }).split("\n");
  return lines.flatMap((line) => {
    const [, pgid, pid, time, state = "", command = ""] = /^ *(\d+) +(\d+) +(\S+) +(\S+) +(.*)$/.exec(line) ?? [];
    // One that has ended, and waits for its parent to notice, holds nothing.
    return Number(pgid) !== group || state.startsWith("Z") ? [] : [`${pid} ${time} ${command.slice(0, 300)}`];
  });
}

/** Asks a group to end, and kills what is there after `graceMs`. */
export async function endGroup(group: number, graceMs: number): Promise<void> {
  reaches(group, "SIGTERM");
  const until = performance.now() + graceMs;
  while (performance.now() < until && reaches(group, 0)) await delay(50);
  reaches(group, "SIGKILL");
}

/** Whether a signal went to anyone there. */
function reaches(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}
