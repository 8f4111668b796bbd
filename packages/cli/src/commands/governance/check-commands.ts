import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import { AcceptedChecks } from "@gennai/sessions/rules/accepted-checks";
import { checkStatement } from "@gennai/sessions/rules/standing-answers";
import type { Console } from "../../terminal/console.ts";
import { type ExitCode, exitCode } from "../../terminal/exit-code.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { actRecorder } from "../options/act-recorder.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";

export interface CheckFlags {
  readonly workspace?: string;
  readonly json?: boolean;
}

/** `gennai check list` */
export async function checkListCommand(flags: CheckFlags, console: Console): Promise<ExitCode> {
  const accepted = await (await acceptedChecks(flags, console)).list();
  if (flags.json === true) {
    console.output.write(`${JSON.stringify({ accepted })}\n`);
    return exitCode.ok;
  }
  for (const { command, source, acceptedAt, actionSha256 } of accepted) {
    const day = terminalSafe(acceptedAt.slice(0, 10));
    console.output.write(`${spelledOut(command)}\n  from ${terminalSafe(source)}, accepted ${day}`);
    console.output.write(` as it was then: SHA-256 ${actionSha256.slice(0, 12)}…\n`);
  }
  if (accepted.length === 0) {
    console.output.write("No check runs here without a question. A question about one offers to accept it.\n");
  }
  return exitCode.ok;
}

/** `gennai check revoke` */
export async function checkRevokeCommand(flags: CheckFlags, console: Console): Promise<ExitCode> {
  const checks = await acceptedChecks(flags, console);
  const statements = (await checks.list()).map(checkStatement);
  if (statements.length > 0) {
    await actRecorder(await resolveWorkspace(flags.workspace, console), console)({ answers_revoked: statements });
  }
  const revoked = await checks.revoke();
  if (flags.json === true) console.output.write(`${JSON.stringify({ revoked })}\n`);
  else if (revoked.length === 0) console.output.write("Nothing was accepted here.\n");
  else for (const { command } of revoked) console.output.write(`asks again: ${spelledOut(command)}\n`);
  return exitCode.ok;
}

async function acceptedChecks(flags: CheckFlags, console: Console): Promise<AcceptedChecks> {
  const workspaceRoot = await resolveWorkspace(flags.workspace, console);
  return new AcceptedChecks(defaultStateDir(console.environment), workspaceRoot);
}
