import { readdirSync } from "node:fs";
import { join } from "node:path";
import { systemErrorCode } from "../system-error.ts";
import { giveWay } from "./give-way.ts";
import { statIfPresent } from "./look-at-entry.ts";

/**
 * True if something in a directory was changed or made since, or if that is uncertain.
 * @param since ctime in nanoseconds
 */
export async function isTouchedBelow(directory: string, since: bigint): Promise<boolean> {
  for (const name of namesIn(directory)) {
    await giveWay();
    const path = join(directory, name);
    const stat = statIfPresent(path);
    if (stat === undefined || stat.ctimeNs >= since) return true;
    if (stat.isDirectory() && (await isTouchedBelow(path, since))) return true;
  }
  return false;
}

/** Empty for a directory that is closed to its owner: writing there needs a mode change, which is detected. */
function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (systemErrorCode(error) === "EACCES") return [];
    throw error;
  }
}
