import { violationWords } from "@gennai/governance/rules/violation";
import { ExpectedError } from "@gennai/machine/expected-error";
import { type DamageControlEntry, damageControlLog } from "@gennai/sessions/policy-workbench/damage-control-log";
import { CliError } from "../terminal/cli-error.ts";
import { type Paint, paintFor } from "../terminal/colours.ts";
import type { Console } from "../terminal/console.ts";
import { exitCode } from "../terminal/exit-code.ts";
import { terminalSafe } from "../terminal/terminal-safe.ts";
import { utcTime } from "../terminal/utc-time.ts";
import { listed, type Said } from "./command-host.ts";
import { placeHere, type WorkspaceFlags } from "./options/resolve-workspace.ts";

export interface PolicyLogFlags extends WorkspaceFlags {
  readonly session?: string;
}

/** `gennai policy log`: the `damage-control-log`, what the rules stopped or asked about, oldest first. */
export async function policyLogCommand(flags: PolicyLogFlags, console: Console): Promise<Said> {
  const entries = await readLog(flags, console);
  const paint = paintFor(console.output, console.environment);
  const { text } = listed(entries, (each) => describe(each, paint), "No rule stopped or asked about anything here.");
  return { rows: entries.map(entryRow), text };
}

async function readLog(flags: PolicyLogFlags, console: Console): Promise<readonly DamageControlEntry[]> {
  try {
    return await damageControlLog({
      ...(await placeHere(flags, console)),
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
function entryRow({ tool, input, rule, action, ...place }: DamageControlEntry) {
  const { sessionId, turnId, toolCallId, seq, time } = place;
  return {
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
  };
}

const colours = { blocked: "red", refused: "red", asked: "yellow", confirmed: "green" } as const;

function describe(entry: DamageControlEntry, paint: Paint): string {
  const { action, rule, sessionId, time } = entry;
  const when = utcTime(time);
  const what = terminalSafe(`${rule}  ${entry.tool}  ${violationWords(entry)}`);
  return `${when}  ${paint(colours[action], action.padEnd(9))} ${what}  ${paint("dim", sessionId.slice(0, 8))}`;
}
