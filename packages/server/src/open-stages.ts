import type { Sandbox } from "@gennai/machine/sandbox/sandbox";
import type { ServerLog } from "@gennai/machine/server-log";
import { Stages } from "@gennai/machine/staged-shell/stages";

/** Asks for staged commands, until they are the way in which all run. */
const variable = "GENNAI_STAGED_COMMANDS";

/** Where commands are staged; undefined where they run in the workspace. What servers that died had begun is ended first. */
export async function openStages(
  sandbox: Sandbox,
  options: {
    readonly stateDir: string;
    readonly home: string;
    readonly environment: Readonly<Record<string, string | undefined>>;
    readonly log: ServerLog;
  },
): Promise<Stages | undefined> {
  if (sandbox.state === "unsandboxed" || options.environment[variable] !== "1") return undefined;
  const { stateDir, home } = options;
  const { stages, recovered } = await Stages.open({ shell: sandbox.shell, stateDir, home });
  for (const { id, state, reason } of recovered) {
    if (state === "stuck") options.log.warn(`What a command changed could not be ended (${id}): ${reason}`);
    else if (state === "finished" || state === "taken_back")
      options.log.info(`What a command changed when the server was ended: ${state} (${id}).`);
  }
  return stages;
}
