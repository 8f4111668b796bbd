import { homedir } from "node:os";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { PolicyWorkbench } from "@gennai/sessions/policy-workbench/policy-workbench";
import type { Trial, TriedChange } from "@gennai/sessions/policy-workbench/try-command";
import { CliError, usageError } from "../../errors/cli-error.ts";
import { type ExitCode, exitCode } from "../../errors/exit-code.ts";
import { colouredDiff, outcomeColours, type Paint, paintFor } from "../../terminal/colours.ts";
import { type Console, isTerminal } from "../../terminal/console.ts";
import { Interrupts } from "../../terminal/interrupts.ts";
import { LineInput } from "../../terminal/line-input.ts";
import { jsonLine, spelledOut, terminalSafe } from "../../terminal/terminal-safe.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";
import { chosenChanges } from "./chosen-changes.ts";

export interface TryFlags {
  readonly workspace?: string;
  readonly keep?: boolean;
  readonly drop?: boolean;
  /** Also without a terminal. */
  readonly ask?: boolean;
  /** Seconds. */
  readonly timeout: string;
  readonly json?: boolean;
}

/** What becomes of what the command changed. */
interface Decision {
  /** Ids of what is dropped; undefined: everything is. */
  readonly dropped: ReadonlySet<string> | undefined;
  /** Nobody could be asked. */
  readonly unasked: boolean;
}

const maxSeconds = 86_400;

/** `gennai try`: runs a person's own command on a stage, shows what it changed, and keeps what that person wants. */
export async function tryCommand(words: readonly string[], flags: TryFlags, console: Console): Promise<ExitCode> {
  if (flags.keep === true && flags.drop === true) throw usageError("Say --keep or --drop, not both.");
  const seconds = Number(flags.timeout);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > maxSeconds)
    throw usageError(`--timeout is a whole number of seconds from 1 to ${maxSeconds}.`);
  const command = words.length === 1 ? (words[0] ?? "") : words.map(quoted).join(" ");
  await using workbench = await openWorkbench(flags, console);
  const { output } = console;
  const paint = paintFor(output, console.environment);
  let decision: Decision = { dropped: undefined, unasked: false };
  const { report, trial } = await workbench.try(command, {
    evenIfRefused: true,
    timeoutMs: seconds * 1000,
    onOutput: (text) => {
      if (flags.json !== true) output.write(terminalSafe(text));
    },
    choose: async (tried) => {
      if (flags.json !== true) output.write(described(tried, paint));
      decision = await decide(tried, flags, console);
      return decision.dropped;
    },
  });
  if (trial === undefined) throw new CliError(report.reason, { exitCode: exitCode.usage, next: [] });
  const kept = keptOf(trial.changes, decision.dropped);
  if (flags.json === true) output.write(`${jsonLine({ ...trial, kept: kept.map(({ name }) => name) })}\n`);
  else output.write(`${outcome(trial, kept, decision)}\n`);
  if (decision.unasked) return exitCode.refused;
  return trial.exitCode === 0 ? exitCode.ok : exitCode.failed;
}

/** A word as a shell is given it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

async function openWorkbench(flags: TryFlags, console: Console): Promise<PolicyWorkbench> {
  const { environment } = console;
  const configDir = environment["XDG_CONFIG_HOME"];
  return PolicyWorkbench.open({
    workspace: await resolveWorkspace(flags.workspace, console),
    stateDir: defaultStateDir(environment),
    home: environment["HOME"] ?? homedir(),
    sandbox: "required",
    stages: "required",
    environment,
    ...(configDir?.startsWith("/") === true ? { configDir } : {}),
  });
}

async function decide(trial: Trial, flags: TryFlags, console: Console): Promise<Decision> {
  const { changes, state } = trial;
  // Of a command that was ended, nobody knows what is half done.
  if (changes.length === 0 || state !== "exited" || flags.drop === true) return { dropped: undefined, unasked: false };
  if (flags.keep === true) return { dropped: droppedBy("rest", changes), unasked: false };
  const { input, errors } = console;
  if (flags.ask !== true && (!isTerminal(input) || !isTerminal(errors))) return { dropped: undefined, unasked: true };
  using interrupts = new Interrupts();
  using lines = new LineInput(console, () => interrupts.interrupt());
  const { signal } = new AbortController();
  for (;;) {
    const said = await lines.question("Keep it? [all, rest, none, or numbers] ", { signal });
    const answer = chosenChanges(said ?? "none", changes);
    if (answer.type === "chosen") return { dropped: answer.dropped, unasked: false };
    errors.write(`${answer.message}\n`);
  }
}

function droppedBy(word: string, changes: readonly TriedChange[]): ReadonlySet<string> | undefined {
  const answer = chosenChanges(word, changes);
  return answer.type === "chosen" ? answer.dropped : undefined;
}

function keptOf(changes: readonly TriedChange[], dropped: ReadonlySet<string> | undefined): readonly TriedChange[] {
  return dropped === undefined ? [] : changes.filter(({ id }) => !dropped.has(id));
}

function described({ changes, neverKept, diff }: Trial, paint: Paint): string {
  const lines = changes.map(({ name, what, verdict, rule, reason }, index) => {
    const why = rule === "" ? "" : `  ${paint(outcomeColours[verdict], verdict)}  ${rule}  ${reason}`;
    return `${String(index + 1).padStart(4)}  ${what.join(", ").padEnd(8)} ${spelledOut(name)}${why}`;
  });
  for (const left of neverKept) lines.push(`      never    ${left}`);
  const list = lines.map((line) => `${terminalSafe(line)}\n`).join("");
  return diff === "" ? list : `${colouredDiff(spelledOut(diff), paint).replace(/\n$/, "")}\n\n${list}`;
}

function outcome(
  { state, exitCode: code, changes }: Trial,
  kept: readonly TriedChange[],
  { unasked }: Decision,
): string {
  const end = code === undefined ? `It did not end by itself (${state})` : `Exit code ${code}`;
  if (changes.length === 0) return `${end}; it changed nothing.`;
  if (kept.length === 0) {
    const next = unasked ? " Run it in a terminal, or say --keep or --drop." : "";
    return `${end}; nothing of it was kept, the workspace is as before.${next}`;
  }
  const all = kept.length === changes.length ? "all of it is" : `${kept.length} of ${changes.length} changes are`;
  return `${end}; ${all} true now.`;
}
