import { violationWords } from "@gennai/governance/rules/violation";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { ExpectedError } from "@gennai/machine/expected-error";
import { type DamageControlEntry, damageControlLog } from "@gennai/sessions/policy-workbench/damage-control-log";
import { CliError } from "../terminal/cli-error.ts";
import { type Paint, paintFor } from "../terminal/colours.ts";
import type { Console } from "../terminal/console.ts";
import { type ExitCode, exitCode } from "../terminal/exit-code.ts";
import { terminalSafe } from "../terminal/terminal-safe.ts";
import { utcTime } from "../terminal/utc-time.ts";
import { resolveWorkspace } from "./options/resolve-workspace.ts";

export interface PolicyLogFlags {
  readonly workspace?: string;
  readonly session?: string;
  readonly json?: boolean;
}

/** `gennai policy log`: the `damage-control-log`, what the rules stopped or asked about, oldest first. */
export async function policyLogCommand(flags: PolicyLogFlags, console: Console): Promise<ExitCode> {
  const workspaceRoot = await resolveWorkspace(flags.workspace, console);
  const entries = await readLog(workspaceRoot, flags, console);
  const paint = paintFor(console.output, console.environment);
  for (const entry of entries) {
    console.output.write(flags.json === true ? `${entryJson(entry)}\n` : `${describe(entry, paint)}\n`);
  }
  if (entries.length === 0 && flags.json !== true)
    console.output.write("No rule stopped or asked about anything here.\n");
  return exitCode.ok;
}

async function readLog(
  workspaceRoot: string,
  flags: PolicyLogFlags,
  console: Console,
): Promise<readonly DamageControlEntry[]> {
  try {
    return await damageControlLog({
      stateDir: defaultStateDir(console.environment),
      workspaceRoot,
      sessionId: flags.session,
      onWarning: (text) => void console.errors.write(`${terminalSafe(text)}\n`),
    });
  } catch (error) {
    if (!(error instanceof ExpectedError) || error.code !== "not_found") throw error;
    throw new CliError(error.message, {
      exitCode: exitCode.usage,
      next: ["gennai sessions lists the sessions of this workspace."],
      cause: error,
    });
  }
}

/** The entry with the specification's names, and its position in the session's log. */
function entryJson({ tool, input, rule, action, ...place }: DamageControlEntry): string {
  const { sessionId, turnId, toolCallId, seq, time } = place;
  return JSON.stringify({
    type: "damage-control-log",
    tool,
    input,
    rule,
    action,
    time: new Date(time).toISOString(),
    session_id: sessionId,
    turn_id: turnId,
    tool_call_id: toolCallId,
    seq,
  });
}

const colours = { blocked: "red", refused: "red", asked: "yellow", confirmed: "green" } as const;

function describe(entry: DamageControlEntry, paint: Paint): string {
  const { action, rule, sessionId, time } = entry;
  const when = utcTime(time);
  const what = terminalSafe(`${rule}  ${entry.tool}  ${violationWords(entry)}`);
  return `${when}  ${paint(colours[action], action.padEnd(9))} ${what}  ${paint("dim", sessionId.slice(0, 8))}`;
}
