import { ok } from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Numbers of the processes that see something mounted below a directory. */
export function seesBelow(directory: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && mountsOf(name).includes(` ${directory}/`))
    .map(Number);
}

/** Resolves when all of them are gone. */
export async function untilNobodySeesBelow(directory: string): Promise<void> {
  const giveUp = performance.now() + 20_000;
  while (seesBelow(directory).length > 0) {
    ok(performance.now() < giveUp, "mounts are left");
    await sleep(5);
  }
}

/** Empty for a process that ended. */
function mountsOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/mountinfo`, "latin1");
  } catch {
    return "";
  }
}
