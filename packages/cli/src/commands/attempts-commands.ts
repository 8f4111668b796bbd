import { editableText } from "@gennai/machine/changes/editable-text";
import { unifiedDiff } from "@gennai/machine/changes/unified-diff";
import { prepareStateDirectory } from "@gennai/machine/config/state-directory";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import type { Attempt, AttemptChange, AttemptSet } from "@gennai/protocol/model/session/attempt";
import { KeptAttempts } from "@gennai/sessions/attempts/kept-attempts";
import { attemptsDesk, attemptsServer } from "../attempts/attempts-desk.ts";
import { describeAttempt, describeAttempts } from "../attempts/describe-attempts.ts";
import { deskOf } from "../attempts/follow-attempt.ts";
import { type TakeFlags, takeAttempt } from "../attempts/take-attempt.ts";
import { usageError } from "../terminal/cli-error.ts";
import { colouredDiff, paintFor } from "../terminal/colours.ts";
import type { Console } from "../terminal/console.ts";
import { exitCode } from "../terminal/exit-code.ts";
import { jsonLine, terminalSafe } from "../terminal/terminal-safe.ts";
import { untilEnded } from "../terminal/until-ended.ts";
import { type Said, said } from "./command-host.ts";
import { placeHere, resolveWorkspace, type WorkspaceFlags } from "./options/resolve-workspace.ts";

export interface AttemptsFlags extends WorkspaceFlags {
  readonly of?: string;
  readonly json?: boolean;
}

export type AttemptsTakeFlags = AttemptsFlags & TakeFlags;

/** `gennai attempts list` */
export async function attemptsListCommand(flags: AttemptsFlags, console: Console): Promise<Said> {
  const { all } = await open(flags, console);
  const none = "There are no attempts here. Make some: gennai run --attempts 3 REQUEST\n";
  return { rows: all, text: () => (all.length === 0 ? none : all.map(describeAttempts).join("\n")) };
}

/** `gennai attempts show N` */
export async function attemptsShowCommand(number: string, flags: AttemptsFlags, console: Console): Promise<Said> {
  const { kept, of, attempt } = await found(number, flags, console);
  return said(attempt, () => {
    const paint = paintFor(console.output, console.environment);
    const diffs = attempt.changes.map((change) => diffOf(change, (sha256) => kept.bytes(of.id, sha256)));
    const checked = attempt.checkOutput === "" ? "" : `\nThe check printed:\n${terminalSafe(attempt.checkOutput)}\n`;
    const told = `${describeAttempt(attempt)}\n${terminalSafe(attempt.text)}`;
    return `${told}\n\n${colouredDiff(diffs.join(""), paint)}\n${checked}`;
  });
}

/** `gennai attempts take N` */
export function attemptsTakeCommand(number: string, flags: AttemptsTakeFlags, console: Console): Promise<number> {
  return untilEnded(console, "Ended; nothing was taken, the workspace is as before.", async (ends) => {
    const place = { console, ...ends };
    const { of, attempt } = await found(number, flags, console);
    if (attempt.changes.length === 0) throw usageError(`Attempt ${number} changed nothing.`);
    const workspace = await resolveWorkspace(flags.workspace, console);
    const desk = await attemptsDesk(flags, { workspace, place });
    await using server = await attemptsServer(desk, place.signal);
    const { terminal } = deskOf(desk, "");
    using _desk = terminal;
    const options = { settings: { workingDir: workspace }, signal: place.signal };
    const session = await terminal.openSession(server, options);
    const request = { session, attemptsId: of.id, number: attempt.number };
    const { taken, unasked } = await takeAttempt(request, flags, place);
    if (flags.json === true) console.output.write(`${jsonLine({ attempt: attempt.number, kept: taken })}\n`);
    return unasked ? exitCode.refused : exitCode.ok;
  });
}

/** `gennai attempts drop [ID]` */
export async function attemptsDropCommand(
  id: string | undefined,
  flags: AttemptsFlags,
  console: Console,
): Promise<Said> {
  const { kept, all } = await open(flags, console);
  const gone = id === undefined ? all.filter(({ isRunning }) => !isRunning) : [named(all, id)];
  for (const one of gone) await kept.drop(one.id);
  const ids = gone.map((one) => one.id);
  return said({ dropped: ids }, `Dropped ${ids.length}.\n`);
}

async function open(flags: AttemptsFlags, console: Console) {
  const { workspaceRoot: workspace, stateDir } = await placeHere(flags, console);
  const kept = new KeptAttempts(await prepareStateDirectory(stateDir));
  await kept.recover(Date.now());
  return { kept, all: kept.list(workspace).map(({ set }) => set) };
}

async function found(
  number: string,
  flags: AttemptsFlags,
  console: Console,
): Promise<{ readonly kept: KeptAttempts; readonly of: AttemptSet; readonly attempt: Attempt }> {
  const { kept, all } = await open(flags, console);
  const of = flags.of === undefined ? all[0] : named(all, flags.of);
  if (of === undefined) throw usageError("There are no attempts here.", "Make some: gennai run --attempts 3 PROMPT");
  const attempt = of.attempts.find((one) => String(one.number) === number);
  if (attempt !== undefined) return { kept, of, attempt };
  throw usageError(`There is no attempt ${number} of ${of.id}.`, "gennai attempts list shows what there is.");
}

function named(all: readonly AttemptSet[], id: string): AttemptSet {
  const one = all.find((each) => each.id === id);
  if (one === undefined)
    throw usageError(`There are no attempts ${id} here.`, "gennai attempts list shows what there is.");
  return one;
}

function diffOf({ path, before, after }: AttemptChange, bytesOf: (sha256: string) => Buffer): string {
  const operation = before === undefined ? "create" : after === undefined ? "delete" : "update";
  const [oldText, newText] = [before, after].map((state) =>
    state === undefined ? "" : editableText(bytesOf(state.sha256))?.text,
  );
  const name = spelledOut(path);
  if (oldText === undefined || newText === undefined) return `${operation} ${name} (no text)\n`;
  if (oldText === newText) return `${operation} ${name} (${after?.kind ?? before?.kind ?? "file"})\n`;
  return spelledOut(unifiedDiff({ path: name, operation, oldText, newText }).text);
}
