import type { Sandbox } from "@gennai/machine/sandbox/sandbox";
import type { ServerLog } from "@gennai/machine/server-log";
import { Stages } from "@gennai/machine/staged-shell/stages";
import { type StagesMode, StagesRequired } from "@gennai/machine/staged-shell/stages-mode";

/**
 * Where commands are staged; undefined where they run in the workspace. What servers that died had begun is ended first, in
 * every mode. Rejects with `StagesRequired`.
 */
export async function openStages(
  sandbox: Sandbox,
  options: { readonly mode: StagesMode; readonly stateDir: string; readonly home: string; readonly log: ServerLog },
): Promise<Stages | undefined> {
  const { mode, stateDir, home, log } = options;
  if (mode === "required" && sandbox.state === "unsandboxed") throw new StagesRequired(sandbox.reason);
  for (const { id, state, reason } of await Stages.recover(stateDir)) {
    if (state === "stuck") log.warn(`What a command changed could not be ended (${id}): ${reason}`);
    else if (state === "finished" || state === "taken_back")
      log.info(`What a command changed when the server was ended: ${state} (${id}).`);
  }
  if (mode === "off" || sandbox.state === "unsandboxed") return undefined;
  return new Stages({ shell: sandbox.shell, stateDir, home, mode });
}
