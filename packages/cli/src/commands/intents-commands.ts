import { homedir } from "node:os";
import type { Intent } from "@gennai/governance/intents/intent";
import { ToolFailure } from "@gennai/governance/tool-error";
import { defaultStateDir, prepareStateDirectory } from "@gennai/machine/config/state-directory";
import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import { type IntentsMode, intentsModeWords } from "@gennai/protocol/model/governance/intents-mode";
import { IntentsService, type IntentsStatus } from "@gennai/sessions/intents/intents-service";
import { CliError, usageError } from "../terminal/cli-error.ts";
import { paintFor } from "../terminal/colours.ts";
import { asTyped, type Console, commandName } from "../terminal/console.ts";
import { type ExitCode, exitCode } from "../terminal/exit-code.ts";
import { terminalSafe } from "../terminal/terminal-safe.ts";
import { limitsHere } from "./limits-here.ts";
import { actRecorder } from "./options/act-recorder.ts";
import { resolveWorkspace } from "./options/resolve-workspace.ts";

export interface IntentsFlags {
  readonly workspace?: string;
  readonly json?: boolean;
}

/** `gennai intents list`: what can be selected, and what is wrong with the file. Fails if something is wrong. */
export async function intentsListCommand(flags: IntentsFlags, console: Console): Promise<ExitCode> {
  const { intents } = await openIntents(flags, console);
  const status = await intents.status();
  if (flags.json === true) console.output.write(`${JSON.stringify(status)}\n`);
  else console.output.write(describeStatus(status, intents.file, console));
  return status.problems.length === 0 ? exitCode.ok : exitCode.failed;
}

/** `gennai intents show ID`. */
export async function intentsShowCommand(id: string, flags: IntentsFlags, console: Console): Promise<ExitCode> {
  const { intents } = await (await openIntents(flags, console)).intents.status();
  const intent = intents.find((each) => each.id === id);
  if (intent === undefined) {
    const ids = intents.map((each) => each.id).join(", ");
    throw usageError(
      `There is no intent ${JSON.stringify(id)}.`,
      ids === "" ? "gennai intents init makes a first one." : `There are: ${ids}.`,
    );
  }
  console.output.write(flags.json === true ? `${JSON.stringify(intent)}\n` : describeIntent(intent));
  return exitCode.ok;
}

/** `gennai intents init`: a first file, with one intent to fill in. Never overwrites. */
export async function intentsInitCommand(flags: IntentsFlags, console: Console): Promise<ExitCode> {
  const { intents, record } = await openIntents(flags, console);
  let created: boolean;
  try {
    created = await intents.create(firstIntents, (sha256) => record({ intents_accepted: sha256 }));
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    throw new CliError(error.message, {
      next: [error.hint ?? "Correct what it names and run the command again."],
      cause: error,
    });
  }
  if (!created) {
    throw usageError(`${intents.file} is there already.`, "Edit it; gennai intents list says what is wrong with it.");
  }
  if (flags.json === true) console.output.write(`${JSON.stringify({ created: intents.file })}\n`);
  else console.output.write(`Made ${intents.file}. Fill in the intent and set its status to active.\n`);
  return exitCode.ok;
}

/** `gennai intents mode auto|required|off`: the person's own switch for this workspace; without a mode, shows it. */
export async function intentsModeCommand(
  mode: string | undefined,
  flags: IntentsFlags,
  console: Console,
): Promise<ExitCode> {
  if (mode !== undefined && !isMode(mode)) {
    throw usageError(`${JSON.stringify(mode)} is not a mode.`, `Say one of: ${intentsModeWords.words.join(", ")}.`);
  }
  const { intents, record } = await openIntents(flags, console);
  if (mode !== undefined) {
    const before = (await intents.status()).mode;
    await intents.setMode(mode, () => record({ intents_mode: mode, intents_mode_before: before }));
  }
  const status = await intents.status();
  if (flags.json === true) {
    console.output.write(`${JSON.stringify({ mode: status.mode, on: status.on, why: status.why })}\n`);
  } else console.output.write(`${describeMode(status)}\n`);
  return exitCode.ok;
}

/** `gennai intents accept`: a person read the present file. If intents are required, they can be selected only after this. */
export async function intentsAcceptCommand(flags: IntentsFlags, console: Console): Promise<ExitCode> {
  const { intents, record } = await openIntents(flags, console);
  let status: IntentsStatus;
  try {
    status = await intents.accept({ record: (sha256) => record({ intents_accepted: sha256 }) });
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    throw new CliError(error.message, {
      next: ["Correct what it names and run the command again; gennai intents init makes a first file."],
      cause: error,
    });
  }
  const { sha256, intents: accepted } = status;
  if (flags.json === true)
    console.output.write(`${JSON.stringify({ accepted: intents.file, sha256, intents: accepted })}\n`);
  else {
    console.output.write(accepted.map(describeIntent).join(""));
    console.output.write(`Accepted ${intents.file} as it is now (SHA-256 ${sha256.slice(0, 12)}…).\n`);
  }
  return exitCode.ok;
}

async function openIntents(flags: IntentsFlags, console: Console) {
  const root = await resolveWorkspace(flags.workspace, console);
  const stateDir = await prepareStateDirectory(defaultStateDir(console.environment));
  const workspace = openLocalWorkspace(root, { stateDir, home: homedir() });
  const intents = IntentsService.open({ workspace, stateDir }).lay(await limitsHere(console));
  return { intents, record: actRecorder(root, console) };
}

function isMode(mode: string): mode is IntentsMode {
  return intentsModeWords.words.some((each) => each === mode);
}

function describeMode({ mode, on, why }: IntentsStatus): string {
  return `Intents are ${on ? "on" : "off"} here (${mode}). ${why}`;
}

/** Advice if no intent can be selected; empty if the file's problems already say it. */
function whatToDo(
  { intents, problems, on, mode, sha256 }: IntentsStatus,
  { file, name }: { readonly file: string; readonly name: string },
): readonly string[] {
  if (problems.length > 0 || intents.some(({ selectable }) => selectable)) return [];
  if (on) {
    const what = intents.length === 0 ? "It has no intent" : "None of these intents is active";
    return [`${what}, so the agent can change nothing here. In ${file}, set the status of one to active.`];
  }
  if (sha256 !== "") return [];
  const switched = mode === "off" ? `${name} intents mode auto, then ` : "";
  return [
    `The agent may work on anything that the rules allow. To say what it may work on: ${switched}${name} intents init`,
  ];
}

function describeStatus(status: IntentsStatus, file: string, { output, environment }: Console): string {
  const { intents, problems } = status;
  const paint = paintFor(output, environment);
  const width = Math.max(0, ...intents.map(({ id }) => id.length));
  const lines = intents.map((intent) => {
    const text = `${intent.id.padEnd(width)}  ${intent.status.padEnd(12)}  ${intent.name}`;
    return paint(intent.selectable ? "green" : "dim", terminalSafe(text));
  });
  if (status.sha256 !== "") lines.push(`${file} is ${status.accepted ? "" : "not "}accepted as it is now.`);
  if (status.mode === "required" && status.sha256 !== "" && !status.accepted) {
    lines.push(`Read it, then: ${commandName(environment)} intents accept`);
  }
  lines.push(
    describeMode(status),
    ...whatToDo(status, { file, name: commandName(environment) }),
    ...problems.map((problem) => paint("yellow", asTyped(terminalSafe(problem), environment))),
  );
  return `${lines.join("\n")}\n`;
}

function describeIntent(intent: Intent): string {
  const lists = [
    ["owned scope", intent.ownedScope],
    ["constraints", intent.constraints],
    ["acceptance criteria", intent.acceptanceCriteria],
  ] as const;
  const lines = [
    `${intent.id}  ${intent.name}`,
    `  status  ${intent.status === "" ? "none" : intent.status}${intent.selectable ? "" : " (cannot be selected)"}`,
    ...lists.flatMap(([name, entries]) => [
      `  ${name}${entries.length === 0 ? "  none" : ""}`,
      ...entries.map((entry) => `    - ${entry}`),
    ]),
  ];
  return `${lines.map(terminalSafe).join("\n")}\n`;
}

/** The file that `gennai intents init` writes. Its intent cannot be selected until a person changes its status. */
const firstIntents = `# Intents: pieces of work that a person authorised, and the paths that each may change.
# Only an intent whose status is active (or in_progress) can be selected.
active_intents:
  - id: INT-001
    name: Say what this work is about
    status: draft
    # Globs relative to the workspace; a plain directory means all below it, "!glob" excludes and wins.
    owned_scope:
      - "src/**"
    constraints:
      - Say what must not happen
    acceptance_criteria:
      - Say how to tell that it is done
`;
