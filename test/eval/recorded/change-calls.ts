import { diffLines } from "@gennai/protocol/diff/line-diff";
import type { RecordedChange } from "./recorded-commits.ts";

export interface Call {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/**
 * The calls by which a model would make this change: Write, Delete, Edit or MultiEdit. Undefined for what no text tool makes:
 * binary files, and other line ends where Write keeps those of the file.
 * @param oneCall several places of a file are one MultiEdit, else an Edit each
 */
export function changeCalls(change: RecordedChange, oneCall: boolean): readonly Call[] | undefined {
  const { path: file_path } = change;
  if (change.after === undefined) return [{ name: "Delete", args: { file_path } }];
  const after = textOf(change.after);
  const before = change.before === undefined ? undefined : textOf(change.before);
  if (after === undefined || (change.before !== undefined && before === undefined)) return undefined;
  if (before !== undefined && lineEnds(before) !== "lf" && lineEnds(after) === "lf") return undefined;
  const write = [{ name: "Write", args: { file_path, content: after } }];
  // An edit keeps line ends, byte order mark and what is there: a change of these is a new text.
  if (
    before === undefined ||
    before === "" ||
    lineEnds(before) !== lineEnds(after) ||
    hasMark(before) !== hasMark(after)
  )
    return write;
  const edits = hunkEdits(plain(before), plain(after));
  if (edits === undefined) return write;
  const [only] = edits;
  if (edits.length === 1 && only !== undefined) return [{ name: "Edit", args: { file_path, ...only } }];
  if (oneCall) return [{ name: "MultiEdit", args: { file_path, edits } }];
  return edits.map((edit) => ({ name: "Edit", args: { file_path, ...edit } }));
}

interface Edit {
  readonly old_string: string;
  readonly new_string: string;
}

/**
 * An edit for each hunk, with one line of context, and more until it is unique; each on the text that the one before left.
 * Undefined if that is impossible.
 */
function hunkEdits(before: string, after: string): readonly Edit[] | undefined {
  const oldLines = before.split(/(?<=\n)/);
  const newLines = after.split(/(?<=\n)/);
  const made: Edit[] = [];
  let current = oldLines;
  let moved = 0;
  for (const { oldStart, oldCount, newStart, newCount } of diffLines(before, after, { timeoutMs: 2_000 }).edits) {
    const start = oldStart - 1 + moved;
    const put = newLines.slice(newStart - 1, newStart - 1 + newCount);
    const edit = uniqueEdit(current, { start, count: oldCount }, put);
    if (edit === undefined) return undefined;
    made.push(edit);
    current = [...current.slice(0, start), ...put, ...current.slice(start + oldCount)];
    moved += put.length - oldCount;
  }
  return made.length > 0 && current.join("") === after ? made : undefined;
}

function uniqueEdit(
  lines: readonly string[],
  place: { readonly start: number; readonly count: number },
  put: readonly string[],
): Edit | undefined {
  const text = lines.join("");
  for (let around = 1; around <= lines.length; around += around) {
    const first = Math.max(0, place.start - around);
    const last = Math.min(lines.length, place.start + place.count + around);
    const [head, tail] = [lines.slice(first, place.start), lines.slice(place.start + place.count, last)];
    const old = lines.slice(first, last).join("");
    const edit = withoutLastLineEnd(old, [...head, ...put, ...tail].join(""));
    if (edit.old_string !== "" && text.indexOf(edit.old_string) === text.lastIndexOf(edit.old_string)) return edit;
  }
  return undefined;
}

/** Models seldom write the line end of the last line. */
function withoutLastLineEnd(old: string, text: string): Edit {
  const both = old.length > 1 && text.length > 1 && old.endsWith("\n") && text.endsWith("\n");
  return both ? { old_string: old.slice(0, -1), new_string: text.slice(0, -1) } : { old_string: old, new_string: text };
}

function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function plain(text: string): string {
  return text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
}

function hasMark(text: string): boolean {
  return text.startsWith("\uFEFF");
}

function lineEnds(text: string): "lf" | "crlf" | "both" {
  const all = text.split("\n").length - 1;
  const windows = text.split("\r\n").length - 1;
  return windows === 0 ? "lf" : windows === all ? "crlf" : "both";
}
