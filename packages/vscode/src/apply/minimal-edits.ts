import { diffLines } from "@gennai/protocol/diff/line-diff";
import { splitLines } from "@gennai/protocol/diff/line-edit";
import type { TextReplacement } from "../editor/files/editor-files.ts";

/** Milliseconds to look for small edits; after that, they are larger. */
const timeoutMs = 250;

/** Edits that turn one text into another: ascending, not touching each other, without common text at their ends. */
export function minimalEdits(oldText: string, newText: string): readonly TextReplacement[] {
  if (oldText === newText) return [];
  const [oldLines, newLines] = [splitLines(oldText), splitLines(newText)];
  const edits: TextReplacement[] = [];
  let [line, at] = [0, 0];
  for (const { oldStart, oldCount, newStart, newCount } of diffLines(oldText, newText, { timeoutMs }).edits) {
    const start = at + lengthOf(oldLines.slice(line, oldStart - 1));
    line = oldStart - 1 + oldCount;
    at = start + lengthOf(oldLines.slice(oldStart - 1, line));
    const text = newLines.slice(newStart - 1, newStart - 1 + newCount).join("");
    edits.push(withoutCommonEnds(oldText, { start, end: at, text }));
  }
  return edits;
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
