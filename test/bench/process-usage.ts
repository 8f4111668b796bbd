import { readdirSync, readFileSync } from "node:fs";

/** Most memory the process ever had, in MiB; NaN where the system does not tell. */
export function peakMemory(processId: number): number {
  const found = /^VmHWM:\s+(\d+) kB$/m.exec(textOf(`/proc/${processId}/status`));
  return found === null ? Number.NaN : Number(found[1]) / 1024;
}

/** Memory that the process has now, in MiB; NaN where the system does not tell. */
export function residentMemory(processId: number): number {
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(textOf(`/proc/${processId}/status`));
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

/**
 * Processor time so far of the process, of all that it started, and of what of these has ended, in milliseconds; NaN where the system
 * does not tell. Of what has ended the system counts hundredths of a second.
 */
export function treeProcessorTime(processId: number): number {
  // One that ends meanwhile is counted among the ended the next time.
  const children = childrenOf(processId)
    .map(treeProcessorTime)
    .filter((time) => !Number.isNaN(time));
  // Behind the name, which may hold anything: the 14th and 15th are what its ended children took.
  const fields = textOf(`/proc/${processId}/stat`).split(") ").at(-1)?.split(" ") ?? [];
  const ended = (Number(fields[13]) + Number(fields[14])) * 10;
  return children.reduce((sum, time) => sum + time, processorTime(processId) + ended);
}

function childrenOf(processId: number): readonly number[] {
  try {
    return readdirSync(`/proc/${processId}/task`).flatMap((thread) =>
      (textOf(`/proc/${processId}/task/${thread}/children`).match(/\d+/g) ?? []).map(Number),
    );
  } catch {
    return [];
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
