import { diffArrays } from "diff";
import type { TextReplacement } from "../editor/files/editor-files.ts";

/** Milliseconds to look for small edits; after that, the whole part that differs is replaced. */
const timeoutMs = 250;

/** Edits that turn one text into another: ascending, not touching each other, without common text at their ends. */
export function minimalEdits(oldText: string, newText: string): readonly TextReplacement[] {
  if (oldText === newText) return [];
  const oldLines = linesWithEnds(oldText);
  const newLines = linesWithEnds(newText);
  const shortest = Math.min(oldLines.length, newLines.length);
  let head = 0;
  while (head < shortest && oldLines[head] === newLines[head]) head++;
  let tail = 0;
  while (tail < shortest - head && oldLines.at(-1 - tail) === newLines.at(-1 - tail)) tail++;
  const oldMiddle = oldLines.slice(head, oldLines.length - tail);
  const newMiddle = newLines.slice(head, newLines.length - tail);
  let at = lengthOf(oldLines.slice(0, head));
  const parts = diffArrays(oldMiddle, newMiddle, { timeout: timeoutMs }) ?? [
    { removed: true, added: false, value: oldMiddle },
    { removed: false, added: true, value: newMiddle },
  ];
  const edits: { start: number; end: number; text: string }[] = [];
  for (const { added, removed, value } of parts) {
    const open = edits.at(-1);
    const continues = open !== undefined && open.end === at;
    if (removed) {
      const end = at + lengthOf(value);
      if (continues) open.end = end;
      else edits.push({ start: at, end, text: "" });
      at = end;
    } else if (added) {
      if (continues) open.text += value.join("");
      else edits.push({ start: at, end: at, text: value.join("") });
    } else at += lengthOf(value);
  }
  return edits.map((edit) => withoutCommonEnds(oldText, edit));
}

/** Applies the result of `minimalEdits`. */
export function withEdits(text: string, edits: readonly TextReplacement[]): string {
  let result = "";
  let at = 0;
  for (const edit of edits) {
    result += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return result + text.slice(at);
}

function linesWithEnds(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length, 0);
}

/** Narrows a replacement of lines to the characters that differ, so that cursors and markers next to them stay. */
function withoutCommonEnds(oldText: string, { start, end, text }: TextReplacement): TextReplacement {
  const longest = Math.min(end - start, text.length);
  let head = 0;
  while (head < longest && oldText[start + head] === text[head]) head++;
  while (head > 0 && (splitsCharacter(oldText, start + head) || splitsCharacter(text, head))) head--;
  let tail = 0;
  while (tail < longest - head && oldText[end - 1 - tail] === text[text.length - 1 - tail]) tail++;
  while (tail > 0 && (splitsCharacter(oldText, end - tail) || splitsCharacter(text, text.length - tail))) tail--;
  return { start: start + head, end: end - tail, text: text.slice(head, text.length - tail) };
}

/** True between CR and LF, and between the halves of a surrogate pair: an editor cannot cut there. */
function splitsCharacter(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  return (before === 13 && after === 10) || (before >= 0xd800 && before < 0xdc00 && after >= 0xdc00 && after < 0xe000);
}
