import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Finding } from "@gennai/machine/finding";
import { stageRoots } from "@gennai/stage/cover/stage-roots";
import { probeStage } from "@gennai/stage/mount/probe-stage";

const check = "staged commands";

/**
 * Checks whether commands of this workspace can be staged, by really making a stage of it. Nothing in the workspace changes, and
 * a missing state directory is not made.
 *
 * @param workspace real path
 */
export async function stageFinding(workspace: string, stateDir: string): Promise<Finding> {
  const isThere = existsSync(stateDir);
  const place = isThere ? stateDir : await mkdtemp(join(existingParent(stateDir), ".gennai-doctor-"));
  try {
    const support = await probeStage(place, stageRoots(workspace, homedir()));
    if (support.state === "staged" && support.noOverlay !== undefined) {
      const { obstacle, reason, advice } = support.noOverlay;
      const text = `Each command runs on a copy of the workspace, which takes longer than an overlay (${obstacle}): ${reason}`;
      return { check, state: "warn", text, next: [advice] };
    }
    if (support.state === "staged") {
      return {
        check,
        state: "ok",
        text: "Commands run on a copy of this workspace; what they change is judged before it is kept.",
      };
    }
    const text = `Commands run in the workspace itself, with a checkpoint before them (${support.obstacle}): ${support.reason}`;
    return { check, state: "warn", text, next: [support.advice] };
  } finally {
    if (!isThere) await rm(place, { recursive: true, force: true });
  }
}

function existingParent(path: string): string {
  const parent = dirname(path);
  return existsSync(parent) ? parent : existingParent(parent);
}
