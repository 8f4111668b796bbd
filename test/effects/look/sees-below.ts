import { ok } from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Resolves when no process sees anything mounted below a directory any more. */
export async function untilNobodySeesBelow(directory: string): Promise<void> {
  const giveUp = performance.now() + 20_000;
  while (readdirSync("/proc").some((name) => /^\d+$/.test(name) && mountsOf(name).includes(` ${directory}/`))) {
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
