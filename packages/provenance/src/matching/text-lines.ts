/** A text's lines without their ends, whichever they are. What follows the last line end is a line only when there is something. */
export function linesOf(text: string): readonly string[] {
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/**
 * What of a line stays the same when it is formatted: its characters without white space, with one kind of quotes, and without
 * what a formatter sets or takes away at a line's end. Hidden characters stay: a line that has one more is another line.
 */
export function squeezed(line: string): string {
  return line
    .replaceAll(/[ \t\f\v\r]+/g, "")
    .replaceAll("'", '"')
    .replace(/[,;]+$/, "");
}

/**
 * How much a line, squeezed, tells by itself, at most 40. Brackets, quotes and the like tell next to nothing: every program is
 * full of them.
 */
export function tells(squeezedLine: string): number {
  return Math.min(40, squeezedLine.replaceAll(/[^\p{L}\p{N}]/gu, "").length);
}

/** Lines squeezed into one run of characters; a comma before a closing bracket is gone, as formatters set it when they wrap. */
export interface SqueezedRun {
  readonly text: string;
  /** For each character, the index of the line that it is of. */
  readonly lines: readonly number[];
}

export function squeezedRun(lines: readonly string[], first: number, end: number): SqueezedRun {
  const characters: string[] = [];
  const owners: number[] = [];
  for (let index = first; index < end; index += 1) {
    for (const character of (lines[index] ?? "").replaceAll(/[ \t\f\v\r;]+/g, "").replaceAll("'", '"')) {
      if (/[)\]}]/.test(character) && characters.at(-1) === ",") {
        characters.pop();
        owners.pop();
      }
      // By UTF-16 unit, as positions in the text are.
      for (let at = 0; at < character.length; at += 1) {
        characters.push(character.charAt(at));
        owners.push(index);
      }
    }
  }
  return { text: characters.join(""), lines: owners };
}
