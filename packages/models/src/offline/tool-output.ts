import { redactionMarker } from "@gennai/governance/redaction";

/** A file, or its first page, as the tool Read gives it. */
export function readPage(output: string): {
  /** Lines end with `\n`, whatever they end with on disk. */
  readonly text: string;
  /** False when more follows. */
  readonly whole: boolean;
  /** False when something was left out or masked, so that the text must not be written back. */
  readonly exact: boolean;
} {
  const all = output.split("\n");
  const lines = all.flatMap((line) => /^\d+\t([^]*)$/.exec(line)?.[1] ?? []);
  const end = lines.length === 0 || all.includes("[no newline at end of file]") ? "" : "\n";
  const whole = !/^\[lines .*offset \d+\]$/m.test(output);
  const exact = whole && !/^\[cut after /m.test(output) && !output.includes(redactionMarker);
  return { text: lines.join("\n") + end, whole, exact };
}

/** One entry a line, without the notes in brackets; those are told apart, they say when something was left out. */
export function listedLines(output: string): { readonly lines: readonly string[]; readonly notes: readonly string[] } {
  const all = output.split("\n").filter((line) => line.trim() !== "" && line !== "--");
  const isNote = (line: string) => /^\[.* .*\]$/.test(line);
  const notes = all.filter((line) => isNote(line) && !/^\[(?:no |empty )/.test(line));
  return { lines: all.filter((line) => !isNote(line)), notes };
}

/** How the tool Bash says that a command ended. */
const endNote =
  /^\[(?:exit code (-?\d+)|ended by signal .*|ended, because .*|timed out after .*|stopped before it ended)\]$/;

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
  const [end, exitCode] = endNote.exec(lines[at] ?? "") ?? [];
  const notes = lines.slice(at + 1);
  if (end === undefined || notes.some((line) => !/^\[.*\]$/.test(line)))
    return { text: output, exitCode: undefined, notes: [] };
  return {
    text: lines.slice(0, at).join("\n"),
    exitCode: exitCode === undefined ? undefined : Number(exitCode),
    notes: (exitCode === undefined ? [end, ...notes] : notes).map((note) => note.slice(1, -1)),
  };
}
