import { userConfigDir } from "@gennai/machine/config/config-directory";
import { errorMessage } from "@gennai/protocol/error-message";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import { WorkspaceHooks } from "@gennai/sessions/rules/workspace-hooks";
import { CliError, usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { exitCode } from "../../terminal/exit-code.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { linesOf, type Said, said } from "../command-host.ts";
import { limitsHere } from "../limits-here.ts";
import { actRecorder } from "../options/act-recorder.ts";
import { placeHere, type WorkspaceFlags } from "../options/resolve-workspace.ts";

/** `gennai hooks show` */
export async function hooksShowCommand(flags: WorkspaceFlags, console: Console): Promise<Said> {
  const loaded = await (await openHooks(flags, console)).hooks.load();
  const text = linesOf(
    loaded.hooks,
    ({ event, matcher, command, timeoutMs, source }) =>
      `${event.padEnd(18)} ${matcher || "*"}  ${spelledOut(command)}  (${timeoutMs / 1000} s, ${source})`,
    "No hooks run here.",
  );
  const problems = [
    ...loaded.problems.map((each) => `broken: ${terminalSafe(each)}; changes are refused until it is corrected\n`),
    ...loaded.warnings.map((each) => `warning: ${terminalSafe(each)}\n`),
  ];
  return said(loaded, text + problems.join(""));
}

/** `gennai hooks trust` */
export async function hooksTrustCommand(flags: WorkspaceFlags, console: Console): Promise<Said> {
  const { hooks, workspaceRoot } = await openHooks(flags, console);
  const record = actRecorder(workspaceRoot, console);
  const commands = await hooks
    .trust((sha256) => record({ hooks_trusted: sha256 }))
    .catch((cause: unknown) => {
      const next = ["Correct the file, then trust it."];
      throw new CliError(errorMessage(cause), { exitCode: exitCode.usage, next, cause });
    });
  if (commands === undefined) {
    throw usageError("This workspace has no .gennai/hooks.json.", "There is nothing to trust.");
  }
  const lines = [
    "Trusted as it is now. From the next turn on these run, and with your rights:",
    ...commands.map((command) => `  ${spelledOut(command)}`),
    "A change of the file takes the trust away; a change of the programs it names does not.",
  ];
  return said({ trusted: commands }, `${lines.join("\n")}\n`);
}

async function openHooks(flags: WorkspaceFlags, console: Console) {
  const place = await placeHere(flags, console);
  const configDir = userConfigDir(console.environment);
  return { ...place, hooks: new WorkspaceHooks({ ...place, configDir, limits: () => limitsHere(console) }) };
}
