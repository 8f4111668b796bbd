import type { Outside } from "@gennai/egress/network/way-out";
import type { ServerLog } from "@gennai/machine/server-log";
import type { CommandsMode } from "@gennai/protocol/commands-mode";
import { recoverChanges } from "@gennai/shell/stages/recover-changes";
import { Stages } from "@gennai/shell/stages/stages";
import type { Sandbox } from "@gennai/stage/sandbox/sandbox";

/** Stages for commands; undefined if they run in the workspace. First cleans up, in every mode, what dead servers left. */
export async function openStages(
  sandbox: Sandbox,
  options: {
    readonly mode: CommandsMode;
    readonly stateDir: string;
    readonly home: string;
    readonly log: ServerLog;
    readonly outside?: Outside | undefined;
  },
): Promise<Stages | undefined> {
  const { mode, stateDir, home, log, outside } = options;
  await recoverAndTell(stateDir, log);
  if (mode === "ask" || sandbox.state === "unsandboxed") return undefined;
  return new Stages({ shell: sandbox.shell, stateDir, home, mode, outside });
}

/** What a server says of its commands, before a workspace is tried. */
export function isolationOf(stages: Stages | undefined): "sandboxed" | "unsandboxed" {
  return stages === undefined ? "unsandboxed" : "sandboxed";
}

/** `somewhere`: the server has no workspace of its own, and tests each user's. */
export type StagesUsed =
  | { readonly state: "staged" | "off" | "somewhere" }
  | { readonly state: "unavailable"; readonly reason: string };

/** @param workspace real path */
export async function stagesUsed(stages: Stages | undefined, workspace: string | undefined): Promise<StagesUsed> {
  if (stages === undefined) return { state: "off" };
  return workspace === undefined ? { state: "somewhere" } : stages.support(workspace);
}

/** Ends what dead servers left half changed, and says what came of it. */
export async function recoverAndTell(stateDir: string, log: ServerLog): Promise<void> {
  for (const { id, state, reason } of await recoverChanges(stateDir)) {
    if (state === "stuck") log.warn(`What a killed server was changing could not be ended (${id}): ${reason}`);
    else if (state === "finished" || state === "taken_back")
      log.info(`What a killed server was changing was ${state === "finished" ? "completed" : "undone"} (${id}).`);
  }
}
