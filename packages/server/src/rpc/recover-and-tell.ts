import type { ServerLog } from "@gennai/machine/server-log";
import { recoverChanges } from "@gennai/shell/stages/recover-changes";

/** Ends what dead servers left half changed, and says what came of it. */
export async function recoverAndTell(stateDir: string, log: ServerLog): Promise<void> {
  for (const { id, state, reason } of await recoverChanges(stateDir)) {
    if (state === "stuck") log.warn(`What a killed server was changing could not be ended (${id}): ${reason}`);
    else if (state === "finished" || state === "taken_back")
      log.info(`What a killed server was changing was ${state === "finished" ? "completed" : "undone"} (${id}).`);
  }
}
