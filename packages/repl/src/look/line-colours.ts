import type { Language } from "@codemirror/language";
import { classHighlighter, highlightCode } from "@lezer/highlight";

/** A coloured part of a line; positions are UTF-16 units from the beginning of the line. */
export interface ColouredPart {
  readonly from: number;
  readonly to: number;
  /** Classes in `look/syntax.css`, e.g. `tok-keyword`. */
  readonly classes: string;
}

/** The coloured parts of each line of a text, in order; lines end with `\n`. */
export function lineColours(text: string, parser: Language["parser"]): readonly (readonly ColouredPart[])[] {
  const lines: ColouredPart[][] = [[]];
  let at = 0;
  highlightCode(
    text,
    parser.parse(text),
    classHighlighter,
    (part, classes) => {
      if (classes !== "") lines.at(-1)?.push({ from: at, to: at + part.length, classes });
      at += part.length;
    },
    () => {
      lines.push([]);
      at = 0;
    },
  );
  return lines;
}
