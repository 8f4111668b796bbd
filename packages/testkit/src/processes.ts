import { readdirSync, readFileSync } from "node:fs";

/** Ids of all processes in whose command line these words stand, its arguments parted by spaces. Linux only. */
export function processesSaying(words: string): readonly string[] {
  return processesWith((line) => line.includes(words));
}

/** Ids of all processes whose whole command line is these words. */
export function processesRunning(words: string): readonly string[] {
  return processesWith((line) => line === `${words} `);
}

function processesWith(holds: (line: string) => boolean): readonly string[] {
  return readdirSync("/proc").filter((id) => {
    try {
      return /^\d+$/.test(id) && holds(readFileSync(`/proc/${id}/cmdline`, "latin1").replaceAll("\0", " "));
    } catch {
      // It has ended.
      return false;
    }
  });
}
