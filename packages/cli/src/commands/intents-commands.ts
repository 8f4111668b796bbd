import { homedir } from "node:os";
import type { Intent } from "@gennai/governance/intents/intent";
import { ToolFailure } from "@gennai/governance/tool-error";
import { prepareStateDirectory } from "@gennai/machine/config/state-directory";
import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import { type IntentsMode, intentsModeWords } from "@gennai/protocol/model/governance/intents-mode";
import { IntentsService, type IntentsStatus } from "@gennai/sessions/intents/intents-service";
import { CliError, usageError } from "../terminal/cli-error.ts";
import { paintFor } from "../terminal/colours.ts";
import { asTyped, type Console, commandName } from "../terminal/console.ts";
import { exitCode } from "../terminal/exit-code.ts";
import { terminalSafe } from "../terminal/terminal-safe.ts";
import { type Said, said } from "./command-host.ts";
import { limitsHere } from "./limits-here.ts";
import { actRecorder } from "./options/act-recorder.ts";
import { placeHere, type WorkspaceFlags } from "./options/resolve-workspace.ts";

/** `gennai intents list`: what can be selected, and what is wrong with the file. Fails if something is wrong. */
export async function intentsListCommand(flags: WorkspaceFlags, console: Console): Promise<Said> {
  const { intents } = await openIntents(flags, console);
  const status = await intents.status();
  const code = status.problems.length === 0 ? exitCode.ok : exitCode.failed;
  return said(status, describeStatus(status, intents.file, console), code);
}

/** `gennai intents show ID`. */
export async function intentsShowCommand(id: string, flags: WorkspaceFlags, console: Console): Promise<Said> {
  const { intents } = await (await openIntents(flags, console)).intents.status();
  const intent = intents.find((each) => each.id === id);
  if (intent === undefined) {
    const ids = intents.map((each) => each.id).join(", ");
    throw usageError(
      `There is no intent ${JSON.stringify(id)}.`,
      ids === "" ? "gennai intents init makes a first one." : `There are: ${ids}.`,
    );
  }
  return said(intent, describeIntent(intent));
}

/** `gennai intents init`: a first file, with one intent to fill in. Never overwrites. */
export async function intentsInitCommand(flags: WorkspaceFlags, console: Console): Promise<Said> {
  const { intents, record } = await openIntents(flags, console);
  const creating = intents.create(firstIntents, (sha256) => record({ intents_accepted: sha256 }));
  if (!(await creating.catch(toldFailure(({ hint }) => hint ?? "Correct what it names and run the command again.")))) {
    throw usageError(`${intents.file} is there already.`, "Edit it; gennai intents list says what is wrong with it.");
  }
  const text = `Made ${intents.file}. Fill in the intent and set its status to active.\n`;
  return said({ created: intents.file }, text);
}

/** `gennai intents mode auto|required|off`: the person's own switch for this workspace; without a mode, shows it. */
export async function intentsModeCommand(
  mode: string | undefined,
  flags: WorkspaceFlags,
  console: Console,
): Promise<Said> {
  if (mode !== undefined && !isMode(mode)) {
    throw usageError(`${JSON.stringify(mode)} is not a mode.`, `Say one of: ${intentsModeWords.words.join(", ")}.`);
  }
  const { intents, record } = await openIntents(flags, console);
  if (mode !== undefined) {
    const before = (await intents.status()).mode;
    await intents.setMode(mode, () => record({ intents_mode: mode, intents_mode_before: before }));
  }
  const status = await intents.status();
  return said({ mode: status.mode, on: status.on, why: status.why }, `${describeMode(status)}\n`);
}

/** `gennai intents accept`: a person read the present file. If intents are required, they can be selected only after this. */
export async function intentsAcceptCommand(flags: WorkspaceFlags, console: Console): Promise<Said> {
  const { intents, record } = await openIntents(flags, console);
  const next = "Correct what it names and run the command again; gennai intents init makes a first file.";
  const { sha256, intents: accepted } = await intents
    .accept({ record: (sha256) => record({ intents_accepted: sha256 }) })
    .catch(toldFailure(() => next));
  const text = `Accepted ${intents.file} as it is now (SHA-256 ${sha256.slice(0, 12)}…).\n`;
  return said({ accepted: intents.file, sha256, intents: accepted }, accepted.map(describeIntent).join("") + text);
}

function toldFailure(next: (failure: ToolFailure) => string): (error: unknown) => never {
  return (error) => {
    throw error instanceof ToolFailure ? new CliError(error.message, { next: [next(error)], cause: error }) : error;
  };
}

async function openIntents(flags: WorkspaceFlags, console: Console) {
  const { workspaceRoot: root, ...place } = await placeHere(flags, console);
  const stateDir = await prepareStateDirectory(place.stateDir);
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
