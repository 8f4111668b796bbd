import { plainLineFeeds } from "@gennai/machine/changes/editable-text";
import { endOfLine } from "@gennai/machine/workspace/files/text-file";
import { countLineFeeds } from "@gennai/protocol/diff/line-edit";

const maxLineLength = 2000;

export interface NumberedLines {
  /** For each line its number, a tab and its text, then notes in brackets, a line each. */
  readonly text: string;
  readonly truncated: boolean;
}

/** A part of a text: whole lines from `firstLine` on. */
export interface TextPart {
  readonly content: string;
  /** 1-based. */
  readonly firstLine: number;
  /** Lines of the whole text. */
  readonly totalLines: number;
}

/** Lines `offset` to `offset + limit - 1` of a whole text. */
export function partOfText(text: string, offset: number, limit: number): TextPart {
  let start = 0;
  for (let line = 1; line < offset && start < text.length; line += 1) start = behindLine(text, start);
  let end = start;
  for (let line = 0; line < limit && end < text.length; line += 1) end = behindLine(text, end);
  const totalLines = countLineFeeds(text) + (text === "" || text.endsWith("\n") ? 0 : 1);
  return { content: text.slice(start, end), firstLine: offset, totalLines };
}

/** Lines in the form shown to a model. */
export function numberedLines(part: TextPart): NumberedLines {
  if (part.content === "") return { text: "[empty file]", truncated: false };
  const plain = plainLineFeeds(part.content);
  const complete = plain.endsWith("\n");
  const lines = (complete ? plain.slice(0, -1) : plain).split("\n");
  const output: string[] = [];
  const cut: number[] = [];
  let number = part.firstLine;
  for (const line of lines) {
    if (line.length > maxLineLength) cut.push(number);
    output.push(`${number}\t${line.length > maxLineLength ? cutAt(line, maxLineLength) : line}`);
    number += 1;
  }
  const lastLine = number - 1;
  const total = Math.max(part.totalLines, lastLine);
  if (!complete && lastLine === total) output.push("[no newline at end of file]");
  if (part.firstLine > 1 || lastLine < total) {
    const readOn = lastLine < total ? `; read on with offset ${lastLine + 1}` : "";
    output.push(`[lines ${part.firstLine}-${lastLine} of ${total}${readOn}]`);
  }
  const eol = endOfLine(part.content);
  if (eol === "crlf") output.push("[CRLF line endings]");
  if (eol === "mixed") output.push("[mixed line endings]");
  if (cut.length > 0)
    output.push(`[cut after ${maxLineLength} characters: ${cut.length === 1 ? "line" : "lines"} ${someOf(cut)}]`);
  return { text: output.join("\n"), truncated: part.firstLine > 1 || lastLine < total || cut.length > 0 };
}

function behindLine(text: string, from: number): number {
  const at = text.indexOf("\n", from);
  return at === -1 ? text.length : at + 1;
}

/** Never splits a surrogate pair. */
function cutAt(line: string, length: number): string {
  const last = line.charCodeAt(length - 1);
  return line.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

function someOf(numbers: readonly number[]): string {
  return numbers.slice(0, 10).join(", ") + (numbers.length > 10 ? ", …" : "");
}
