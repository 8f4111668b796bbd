import { adviceForPeople } from "@gennai/protocol/errors/advice-for-people";
import { z } from "zod";

/** What came back for one call. */
export interface ToolReply {
  readonly output: string;
  readonly failure: ReplyFailure | undefined;
}

export interface ReplyFailure {
  /** Empty when the tool ran and failed, without a code. */
  readonly code: string;
  readonly message: string;
  /** For the model. */
  readonly hint: string | undefined;
  /** For the user, instead of the text for the code. */
  readonly advice?: string;
  /** The file is not read, or changed since: reading it again and repeating the call may help. */
  readonly outdated: boolean;
}

const errorSchema = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    hint: z.string().optional(),
  }),
});

export function toolReply(output: string, isError: boolean): ToolReply {
  if (!isError) return { output, failure: undefined };
  const parsed = errorSchema.safeParse(parseJson(output));
  if (!parsed.success) {
    return { output, failure: { code: "", message: firstLine(output), hint: undefined, outdated: false } };
  }
  const { code, message, hint } = parsed.data.error;
  return { output, failure: { code, message, hint, outdated: code === "stale_file" || code === "not_read" } };
}

/** `message (code)` and what the user can do, as one line. */
export function describeFailure(failure: ReplyFailure): string {
  const code = failure.code === "" ? "" : ` (${failure.code})`;
  const advice = failure.advice ?? adviceForPeople(failure);
  return `${failure.message}${code}${advice === undefined ? "" : ` ${advice}`}`.replaceAll(/\s+/g, " ");
}

/** A page of a file, as the Read tool gives it. */
export interface FilePage {
  readonly lines: readonly string[];
  readonly finalNewline: boolean;
  /** Where to read on; undefined on the last page. */
  readonly nextOffset: number | undefined;
  /** False when something was left out, so that the text must not be written back. */
  readonly exact: boolean;
}

export function readPage(output: string): FilePage {
  const lines: string[] = [];
  let finalNewline = true;
  let nextOffset: number | undefined;
  let exact = true;
  let previous: number | undefined;
  for (const line of output === "" ? [] : output.split("\n")) {
    const [, number, text] = /^(\d+)\t([\s\S]*)$/.exec(line) ?? [];
    if (number !== undefined && text !== undefined) {
      exact &&= previous === undefined || Number(number) === previous + 1;
      previous = Number(number);
      lines.push(text);
    } else if (line === "[no newline at end of file]") finalNewline = false;
    else if (/^\[lines .*offset \d+\]$/.test(line)) nextOffset = Number(/offset (\d+)\]$/.exec(line)?.[1]);
    else if (!/^\[.*\]$/.test(line) && line !== "") exact = false;
    else if (/truncat|shorten|omit|\bcut\b|too long/i.test(line)) exact = false;
  }
  return { lines, finalNewline, nextOffset, exact };
}

/** One entry a line, without the notes in brackets; those are told apart, they say when something was left out. */
export function listedLines(output: string): { readonly lines: readonly string[]; readonly notes: readonly string[] } {
  const all = output.split("\n").filter((line) => line.trim() !== "");
  const isNote = (line: string) => /^\[.* .*\]$/.test(line);
  return { lines: all.filter((line) => !isNote(line)), notes: all.filter(isNote) };
}

/**
 * Output of a command and its exit code. The code is on a line after the output, before other notes; the command may have
 * printed such lines itself, so the last one counts.
 */
export function commandResult(output: string): {
  readonly text: string;
  /** undefined for one that did not end by itself, too. */
  readonly exitCode: number | undefined;
  /** What was noted of the command besides, without brackets. */
  readonly notes: readonly string[];
} {
  const lines = output.trimEnd().split("\n");
  const at = lines.findLastIndex((line) => endNote.test(line));
  const notes = lines.slice(at + 1);
  const [end, exitCode] = endNote.exec(lines[at] ?? "") ?? [];
  if (end === undefined || notes.some((line) => !isNote(line))) return { text: output, exitCode: undefined, notes: [] };
  const others = exitCode === undefined ? [end, ...notes] : notes;
  return {
    text: lines.slice(0, at).join("\n"),
    exitCode: exitCode === undefined ? undefined : Number(exitCode),
    notes: others.map((note) => note.slice(1, -1)),
  };
}

/** How the tool Bash says that a command ended. */
const endNote =
  /^\[(?:exit code (-?\d+)|ended by signal .*|ended, because .*|timed out after .*|stopped before it ended)\]$/;

function isNote(line: string): boolean {
  return /^\[.*\]$/.test(line);
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function firstLine(text: string): string {
  return (
    text
      .split("\n")
      .find((line) => line.trim() !== "")
      ?.trim() ?? "the tool failed without a reason"
  );
}
