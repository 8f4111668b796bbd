import { basename, dirname } from "node:path";
import { identityOf, modeOf, statIfPresent } from "@gennai/machine/entries/look-at-entry";
import { isTouchedBelow } from "@gennai/machine/entries/touched-below";
import { systemErrorCode } from "@gennai/machine/system-error";
import { holdDirectory } from "@gennai/machine/workspace/files/held-directory";
import type { WorkspaceRoot } from "@gennai/machine/workspace/paths/workspace-root";
import type { StageEffect } from "../observe/effect.ts";
import type { PlannedChange } from "./plan-commit.ts";

/**
 * Why a change is no longer possible because of others' changes; undefined if everything is as the command found it.
 * @param marker ctime in nanoseconds: anything not older was changed since the command began
 */
export async function lookAgain(
  root: WorkspaceRoot,
  change: PlannedChange,
  marker: bigint,
): Promise<string | undefined> {
  const { effect, gone } = change;
  for (const one of [effect, ...gone]) {
    if (one.before?.type !== "directory" && one.flags.includes("changed-by-others")) {
      return one.before === undefined ? removed : changed;
    }
  }
  try {
    const parent = dirname(effect.path);
    using held = holdDirectory(root, parent === "." ? [] : parent.split("/"));
    const place = held.entry(basename(effect.path));
    const isTaken = change.kind !== "mode" && effect.before?.type === "directory";
    return compare(place, effect) ?? (isTaken && (await isTouchedBelow(place, marker)) ? changed : undefined);
  } catch (error) {
    if (systemErrorCode(error) === undefined && !(error instanceof Error && "code" in error)) throw error;
    return "its directory is not there any more";
  }
}

const changed = "somebody else changed it since the command began";
const removed = "somebody else removed or moved it since the command began";

function compare(path: string, { before }: StageEffect): string | undefined {
  const stat = statIfPresent(path);
  if (before === undefined) return stat === undefined ? undefined : "somebody else made it since the command began";
  if (stat === undefined) return "somebody else removed it since the command began";
  const now = identityOf(stat);
  const was = before.identity;
  if (now.inode !== was.inode) return changed;
  if (stat.isDirectory()) return modeOf(stat) === was.mode ? undefined : changed;
  return now.size === was.size && now.mtimeNs === was.mtimeNs && now.ctimeNs === was.ctimeNs ? undefined : changed;
}
