import { userConfigDir } from "@gennai/machine/config/config-directory";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { errorMessage } from "@gennai/protocol/error-message";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import { WorkspaceHooks } from "@gennai/sessions/rules/workspace-hooks";
import { CliError, usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { type ExitCode, exitCode } from "../../terminal/exit-code.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { limitsHere } from "../limits-here.ts";
import { actRecorder } from "../options/act-recorder.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";

export interface HooksFlags {
  readonly workspace?: string;
  readonly json?: boolean;
}

/** `gennai hooks show` */
export async function hooksShowCommand(flags: HooksFlags, console: Console): Promise<ExitCode> {
  const loaded = await (await workspaceHooks(flags, console)).load();
  if (flags.json === true) {
    console.output.write(`${JSON.stringify(loaded)}\n`);
    return exitCode.ok;
  }
  for (const { event, matcher, command, timeoutMs, source } of loaded.hooks) {
    const which = matcher === undefined || matcher === "" ? "*" : matcher;
    console.output.write(`${event.padEnd(18)} ${which}  ${spelledOut(command)}  (${timeoutMs / 1000} s, ${source})\n`);
  }
  if (loaded.hooks.length === 0) console.output.write("No hooks run here.\n");
  for (const problem of loaded.problems)
    console.output.write(`broken: ${terminalSafe(problem)}; changes are refused until it is corrected\n`);
  for (const warning of loaded.warnings) console.output.write(`warning: ${terminalSafe(warning)}\n`);
  return exitCode.ok;
}

/** `gennai hooks trust` */
export async function hooksTrustCommand(flags: HooksFlags, console: Console): Promise<ExitCode> {
  const hooks = await workspaceHooks(flags, console);
  const record = actRecorder(await resolveWorkspace(flags.workspace, console), console);
  let commands: readonly string[] | undefined;
  try {
    commands = await hooks.trust((sha256) => record({ hooks_trusted: sha256 }));
  } catch (error) {
    throw new CliError(errorMessage(error), {
      exitCode: exitCode.usage,
      next: ["Correct the file, then trust it."],
      cause: error,
    });
  }
  if (commands === undefined) {
    throw usageError("This workspace has no .gennai/hooks.json.", "There is nothing to trust.");
  }
  if (flags.json === true) console.output.write(`${JSON.stringify({ trusted: commands })}\n`);
  else {
    console.output.write("Trusted as it is now. From the next turn on these run, and with your rights:\n");
    for (const command of commands) console.output.write(`  ${spelledOut(command)}\n`);
    console.output.write("A change of the file takes the trust away; a change of the programs it names does not.\n");
  }
  return exitCode.ok;
}

async function workspaceHooks(flags: HooksFlags, console: Console): Promise<WorkspaceHooks> {
  return new WorkspaceHooks({
    configDir: userConfigDir(console.environment),
    stateDir: defaultStateDir(console.environment),
    workspaceRoot: await resolveWorkspace(flags.workspace, console),
    limits: () => limitsHere(console),
  });
}
