/** Lines that replace others. Numbers are 1-based; with a count of 0, `start` is the line that would follow. */
export interface LineEdit {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
}

/** Lines with their line ends: joined, they are the text again. An empty text has no line. */
export function splitLines(text: string): string[] {
  const lines: string[] = [];
  let start = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", start)) {
    lines.push(text.slice(start, at + 1));
    start = at + 1;
  }
  if (start < text.length) lines.push(text.slice(start));
  return lines;
}

/** Number of line feeds in `text` between two offsets. */
export function countLineFeeds(text: string, from = 0, to = text.length): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** Number of lines in a text; what follows the last line feed is a line only if it is not empty. */
export function countLines(text: string): number {
  if (text === "") return 0;
  return countLineFeeds(text) + (text.endsWith("\n") ? 0 : 1);
}
