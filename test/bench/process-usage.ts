import { readdirSync, readFileSync } from "node:fs";

/** Most memory the process ever had, in MiB; NaN where the system does not tell. */
export function peakMemory(processId: number): number {
  const found = /^VmHWM:\s+(\d+) kB$/m.exec(textOf(`/proc/${processId}/status`));
  return found === null ? Number.NaN : Number(found[1]) / 1024;
}

/** Processor time of all threads of the process so far, in milliseconds; NaN where the system does not tell. */
export function processorTime(processId: number): number {
  try {
    const threads = readdirSync(`/proc/${processId}/task`);
    const times = threads.map(
      (thread) => Number(textOf(`/proc/${processId}/task/${thread}/schedstat`).split(" ")[0]) / 1e6,
    );
    return times.reduce((sum, time) => sum + time, 0);
  } catch {
    return Number.NaN;
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
