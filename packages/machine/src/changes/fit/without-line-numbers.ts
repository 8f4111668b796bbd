import type { WantedEdit } from "./fit-edit.ts";

const numbered = /^\s*(\d+)→/;

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
