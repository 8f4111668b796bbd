/** A part of a Markdown text that is shown by itself. */
export interface MarkdownBlock {
  /** Markdown; of a fence that was cut, with a fence of its own. */
  readonly source: string;
  /** Position behind it in the whole text. */
  readonly end: number;
  /** The line that opens the fence in which the text goes on; empty: none. */
  readonly fence: string;
}

/** Characters from which on a block is cut at a line, so that what is still written stays short. */
const longest = 4096;

/**
 * The next part of a growing text that can change no more: up to an empty line outside of a fence, or up to a line's end when it is
 * long. undefined: all of the rest may still change.
 * @param fence in which the text stands at `start`
 * @param isWhole true when nothing more comes
 */
export function nextBlock(
  text: string,
  start: number,
  { fence, isWhole }: { readonly fence: string; readonly isWhole: boolean },
): MarkdownBlock | undefined {
  let open = fence;
  let at = start;
  for (;;) {
    const lineEnd = text.indexOf("\n", at);
    if (lineEnd < 0) break;
    const line = text.slice(at, lineEnd);
    at = lineEnd + 1;
    open = fenceAfter(open, line);
    const isClosed = open === "" && fence !== "";
    const isParagraph = open === "" && line.trim() === "" && at < text.length && !/^\s/.test(text.slice(at, at + 1));
    if (isClosed || isParagraph || at - start > longest)
      return { source: blockSource(text.slice(start, at), fence, open), end: at, fence: open };
  }
  if (isWhole)
    return start < text.length
      ? { source: blockSource(text.slice(start), fence, open), end: text.length, fence: "" }
      : undefined;
  // A line without an end: cut between words.
  const space = text.length - start > 2 * longest && open === "" ? text.lastIndexOf(" ", start + longest) : -1;
  return space <= start ? undefined : { source: text.slice(start, space), end: space + 1, fence: open };
}

/** What is left of a text that grows, as Markdown. */
export function restSource(text: string, start: number, fence: string): string {
  return fence === "" ? text.slice(start) : `${fence}\n${text.slice(start)}`;
}

function blockSource(source: string, before: string, after: string): string {
  const opened = before === "" ? source : `${before}\n${source}`;
  return after === "" ? opened : `${opened}${opened.endsWith("\n") ? "" : "\n"}${marksOf(after)}`;
}

/** The opening line of the fence in which the text is behind this line. */
function fenceAfter(open: string, line: string): string {
  const found = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line);
  const [, marks = "", info = ""] = found ?? [];
  if (open === "") return found === null || (marks.startsWith("`") && info.includes("`")) ? "" : line.trimStart();
  const closes = marks.startsWith(marksOf(open)) && info.trim() === "";
  return closes ? "" : open;
}

function marksOf(fence: string): string {
  return /^(`+|~+)/.exec(fence)?.[0] ?? "";
}
