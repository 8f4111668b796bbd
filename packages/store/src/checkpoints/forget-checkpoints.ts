import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ProcessLocks } from "@gennai/machine/process/locks/process-lock";
import { ShadowTree } from "./shadow-tree.ts";
import { checkpointDirectory, WorkspaceCheckpoints } from "./workspace-checkpoints.ts";

/**
 * Forgets what was kept of a workspace's files: for some sessions, or everything for good. May be repeated. Files that are in the
 * workspace now stay in the snapshots' index unless everything is forgotten.
 */
export async function forgetCheckpoints(
  place: { readonly stateDir: string; readonly root: string },
  sessionIds: readonly string[],
): Promise<void> {
  const directory = checkpointDirectory(place);
  if (!existsSync(directory)) return;
  if (sessionIds.length > 0) {
    await using checkpoints = new WorkspaceCheckpoints(place);
    await checkpoints.forgetSessions(new Set(sessionIds));
    return;
  }
  const locks = new ProcessLocks(join(place.stateDir, "locks"));
  const tree = new ShadowTree({ directory: join(directory, "repository"), root: place.root, locks });
  // Under the lock, so that no other process takes a snapshot meanwhile.
  await tree.alone(async () => rmSync(directory, { recursive: true, force: true }), { isLast: true });
}
