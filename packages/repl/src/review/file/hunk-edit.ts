import { diffArrays } from "diff";
import { splitLines } from "../diff/diff-rows.ts";

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
  const before = lines.map(plain);
  const after = [...splitLines(edited.replace(/\r\n?/g, "\n"))];
  const endings: string[] = [];
  let last = lines.find((line) => line.endsWith("\n"))?.endsWith("\r\n") === true ? "\r\n" : "\n";
  let at = 0;
  for (const part of diffArrays(before, after)) {
    for (let count = 0; count < part.value.length; count++) {
      if (part.removed) {
        at++;
        continue;
      }
      if (!part.added) {
        const line = lines[at++] ?? "";
        if (line.endsWith("\n")) last = line.endsWith("\r\n") ? "\r\n" : "\n";
      }
      endings.push(last);
    }
  }
  return after
    .map((line, index) => (line.endsWith("\n") ? line.slice(0, -1) + (endings[index] ?? last) : line))
    .join("");
}

function plain(line: string): string {
  return line.replace(/\r\n$/, "\n");
}
