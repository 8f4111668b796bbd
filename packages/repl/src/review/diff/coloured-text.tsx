import type { ColouredPart } from "../../look/line-colours.ts";
import { VisibleText } from "../../look/visible-text.tsx";
import type { LinePart } from "./diff-rows.ts";

interface ColouredTextProps {
  /** Joined, they are the whole line. */
  readonly parts: readonly LinePart[];
  readonly colours: readonly ColouredPart[];
}

/** A line in colours, with its changed parts marked. */
export function ColouredText({ parts, colours }: ColouredTextProps) {
  let at = 0;
  return (
    <>
      {parts.map(({ text, changed }, index) => {
        const pieces = cut(text, at, colours);
        at += text.length;
        const shown = pieces.map((piece) =>
          piece.classes === "" ? (
            <VisibleText key={piece.from} text={piece.text} />
          ) : (
            <VisibleText in="span" key={piece.from} class={piece.classes} text={piece.text} />
          ),
        );
        return changed ? <mark key={index}>{shown}</mark> : shown;
      })}
    </>
  );
}

interface Piece {
  readonly from: number;
  readonly text: string;
  readonly classes: string;
}

/** A part of a line, cut into pieces of one colour each. @param start where in the line the part begins */
function cut(text: string, start: number, colours: readonly ColouredPart[]): readonly Piece[] {
  const pieces: Piece[] = [];
  const end = start + text.length;
  let at = start;
  const take = (to: number, classes: string) => {
    if (to > at) pieces.push({ from: at, text: text.slice(at - start, to - start), classes });
    at = Math.max(at, to);
  };
  for (const { from, to, classes } of colours) {
    if (to <= at) continue;
    if (from >= end) break;
    take(Math.max(at, from), "");
    take(Math.min(to, end), classes);
  }
  take(end, "");
  return pieces;
}
