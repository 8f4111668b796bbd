import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isRunning } from "@gennai/machine/process/is-running";
import { clientPlace } from "@gennai/machine/workspace/paths/client-place";
import type { BlobStore } from "@gennai/store/log/session-log";
import type { SessionServices } from "../session/session-services.ts";
import { ClientWorkspace } from "./client-workspace.ts";
import { ControlMirror } from "./control-mirror.ts";

/**
 * Opens workspaces that clients hold. The mirror of the files that steer the agent is below the state directory while the
 * session is open; disposing removes the rest, and the next process removes what a killed one left.
 */
export function openClientWorkspaces(options: {
  readonly stateDir: string;
  readonly blobs: BlobStore;
  /** Milliseconds. */
  readonly now: () => number;
}): {
  readonly open: SessionServices["openClientWorkspace"];
  /** Removes the mirror of a session that is closed. */
  readonly forget: (sessionId: string) => void;
} & Disposable {
  const mirrors = join(options.stateDir, "client-workspaces");
  const own = join(mirrors, String(process.pid));
  removeLeftBehind(mirrors);
  return {
    open: (facts, { sessionId, user, channel }) =>
      new ClientWorkspace({
        facts,
        channel,
        blobs: options.blobs,
        place: clientPlace(facts.id, user),
        control: new ControlMirror(join(own, sessionId), options.now),
      }),
    forget: (sessionId) => rmSync(join(own, sessionId), { recursive: true, force: true }),
    [Symbol.dispose]: () => rmSync(own, { recursive: true, force: true }),
  };
}

/** Mirrors of dead processes, or of an earlier one with this process id. */
function removeLeftBehind(mirrors: string): void {
  for (const name of namesIn(mirrors)) {
    if (/^\d+$/.test(name) && isRunning(Number(name)) && Number(name) !== process.pid) continue;
    rmSync(join(mirrors, name), { recursive: true, force: true });
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
