import type { WantedEdit } from "./fit-edit.ts";

/** Earlier versions put an arrow behind the number: sessions that began with them may go on. */
const numbered = /^\s*(\d+)[\t→]/;

/**
 * The edit without the numbers that a reading tool puts before lines. undefined unless the lines of the old text have consecutive
 * numbers, and either all or none of the lines of the new text have one.
 */
export function withoutLineNumbers({ oldText, newText }: WantedEdit): WantedEdit | undefined {
  const old = bareLines(oldText);
  if (old === undefined || old.numbers.some((number, index) => number !== (old.numbers[0] ?? 0) + index))
    return undefined;
  if (!newText.split("\n").some((line) => numbered.test(line))) return { oldText: old.text, newText };
  const fresh = bareLines(newText);
  return fresh === undefined ? undefined : { oldText: old.text, newText: fresh.text };
}

/** Whether a file has such lines itself, as a table may. Then the numbers of a wanted text may be the file's. */
export function hasNumberedLines(text: string): boolean {
  return text.split("\n").some((line) => numbered.test(line));
}

function bareLines(text: string): { readonly text: string; readonly numbers: readonly number[] } | undefined {
  const closed = text.endsWith("\n");
  const numbers: number[] = [];
  const lines: string[] = [];
  for (const line of (closed ? text.slice(0, -1) : text).split("\n")) {
    const number = numbered.exec(line);
    if (number === null) return undefined;
    numbers.push(Number(number[1]));
    lines.push(line.slice(number[0].length));
  }
  return { text: `${lines.join("\n")}${closed ? "\n" : ""}`, numbers };
}
