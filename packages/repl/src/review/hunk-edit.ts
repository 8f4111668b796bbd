import { diffLines } from "@gennai/protocol/diff/line-diff";
import { splitLines } from "@gennai/protocol/diff/line-edit";

/** Most milliseconds to look for equal lines. */
const timeoutMs = 200;

/**
 * The new lines of a hunk for a text field, with line feeds only. undefined if the field would change more than that: a single
 * carriage return, or a null.
 */
export function textForField(lines: readonly string[]): string | undefined {
  const text = lines.join("").replace(/\r\n/g, "\n");
  return /[\r\0]/.test(text) ? undefined : text;
}

/** The text of the field with the original line endings; a new line ends like the one before it. */
export function textFromField(edited: string, lines: readonly string[]): string {
  if (edited === textForField(lines)) return lines.join("");
  const text = edited.replace(/\r\n?/g, "\n");
  const { edits } = diffLines(lines.map(plain).join(""), text, { timeoutMs });
  const after = splitLines(text);
  let last = lines.find((line) => line.endsWith("\n"))?.endsWith("\r\n") === true ? "\r\n" : "\n";
  const endings: string[] = [];
  let at = 0;
  const sameUntil = (end: number) => {
    for (; at < end; at++) {
      const line = lines[at] ?? "";
      if (line.endsWith("\n")) last = line.endsWith("\r\n") ? "\r\n" : "\n";
      endings.push(last);
    }
  };
  for (const { oldStart, oldCount, newCount } of edits) {
    sameUntil(oldStart - 1);
    at += oldCount;
    for (let count = 0; count < newCount; count++) endings.push(last);
  }
  sameUntil(lines.length);
  return after
    .map((line, index) => (line.endsWith("\n") ? line.slice(0, -1) + (endings[index] ?? last) : line))
    .join("");
}

function plain(line: string): string {
  return line.replace(/\r\n$/, "\n");
}
