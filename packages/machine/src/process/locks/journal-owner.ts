import { readFileSync } from "node:fs";
import { isRunning } from "../is-running.ts";

/**
 * Names this process so that a later one can tell whether it still runs: process id, start time and, on Linux, the boot. A
 * process id alone is reused, in a container even as the same number each time.
 */
export function thisOwner(): string {
  own ??= describe(process.pid) ?? `${process.pid}-${Math.round(performance.timeOrigin)}-0`;
  return own;
}

/** False if the process named by `owner` is gone. True if uncertain, because its journals may be in use. */
export function ownerRuns(owner: string): boolean {
  if (owner === thisOwner()) return true;
  const pid = Number(owner.split("-")[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid === process.pid) return false;
  if (process.platform === "linux") return describe(pid) === owner;
  return isRunning(pid);
}

function describe(pid: number): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    // The command name in brackets may hold anything; after it, the 20th field is the start time in ticks since the boot.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // A zombie holds no files any more.
    if (fields[0] === "Z" || fields[0] === "X") return undefined;
    boot ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim().replaceAll("-", "").slice(0, 12);
    return `${pid}-${fields[19]}-${boot}`;
  } catch {
    return undefined;
  }
}

let own: string | undefined;
let boot: string | undefined;
