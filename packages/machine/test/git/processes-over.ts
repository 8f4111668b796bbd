import { readdirSync, readFileSync } from "node:fs";

/** Processes whose command line names the path; Linux only. */
export function processesOver(path: string): readonly string[] {
  return readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "utf8").includes(path);
    } catch {
      return false;
    }
  });
}
