import { diffArrays } from "diff";
import { splitLines } from "../diff/diff-rows.ts";

/**
 * The new lines of a hunk as a text field can hold them: line feeds only. undefined when the field would change more than
 * that: a carriage return of its own, a null.
 */
export function textForField(lines: readonly string[]): string | undefined {
  const text = lines.join("").replace(/\r\n/g, "\n");
  return /[\r\0]/.test(text) ? undefined : text;
}

/** What a field gave back, with the line endings that the lines had; a new line ends as the one before it does. */
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
