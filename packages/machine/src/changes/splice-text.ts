import { countLineFeeds, type LineEdit, splitLines } from "@gennai/protocol/diff/line-edit";

/** `text` replaces the characters from `start` to `end` (UTF-16 offsets, end exclusive). */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface SplicedText {
  readonly text: string;
  /** The lines that differ, ascending. Found only from the positions of the splices: the rest of the text is not compared. */
  readonly edits: readonly LineEdit[];
}

/** @param splices ascending, not overlapping */
export function spliceText(text: string, splices: readonly Splice[]): SplicedText {
  const pieces: string[] = [];
  const edits: LineEdit[] = [];
  let copied = 0;
  let counted = 0;
  let line = 1;
  let shift = 0;
  for (let index = 0; index < splices.length; ) {
    const first = splices[index];
    if (first === undefined) break;
    // `lastIndexOf` takes a negative position as 0, and would find a line feed there.
    const groupStart = first.start === 0 ? 0 : text.lastIndexOf("\n", first.start - 1) + 1;
    let groupEnd = lineEnd(text, first.end);
    const inGroup: Splice[] = [first];
    for (let next = splices[index + 1]; next !== undefined; next = splices[index + inGroup.length]) {
      // A group without a line feed at its end is the end of the text: all further splices are in the last line.
      if (next.start >= groupEnd && text.charCodeAt(groupEnd - 1) === 10) break;
      inGroup.push(next);
      groupEnd = lineEnd(text, next.end);
    }
    index += inGroup.length;

    const replaced: string[] = [];
    let at = groupStart;
    for (const splice of inGroup) {
      replaced.push(text.slice(at, splice.start), splice.text);
      at = splice.end;
    }
    replaced.push(text.slice(at, groupEnd));
    const newLines = replaced.join("");
    pieces.push(text.slice(copied, groupStart), newLines);
    copied = groupEnd;

    line += countLineFeeds(text, counted, groupStart);
    counted = groupStart;
    const edit = trimmedEdit(splitLines(text.slice(groupStart, groupEnd)), splitLines(newLines), line, line + shift);
    if (edit !== undefined) {
      edits.push(edit);
      shift += edit.newCount - edit.oldCount;
    }
  }
  pieces.push(text.slice(copied));
  return { text: pieces.join(""), edits };
}

/** Offset after the line that contains `offset`. */
export function lineEnd(text: string, offset: number): number {
  const at = text.indexOf("\n", offset);
  return at === -1 ? text.length : at + 1;
}

function trimmedEdit(
  oldLines: readonly string[],
  newLines: readonly string[],
  oldLine: number,
  newLine: number,
): LineEdit | undefined {
  const shorter = Math.min(oldLines.length, newLines.length);
  let head = 0;
  while (head < shorter && oldLines[head] === newLines[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && oldLines[oldLines.length - 1 - tail] === newLines[newLines.length - 1 - tail])
    tail += 1;
  const edit = {
    oldStart: oldLine + head,
    oldCount: oldLines.length - head - tail,
    newStart: newLine + head,
    newCount: newLines.length - head - tail,
  };
  return edit.oldCount === 0 && edit.newCount === 0 ? undefined : edit;
}
