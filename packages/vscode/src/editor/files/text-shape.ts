/** How the lines of a text end; a lone CR is not a line end here. */
export type LineEnds = "lf" | "crlf" | "mixed" | "none";

export function lineEndsOf(text: string): LineEnds {
  let crlf = false;
  let lf = false;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    if (at > 0 && text.charCodeAt(at - 1) === 13) crlf = true;
    else lf = true;
    if (crlf && lf) return "mixed";
  }
  return crlf ? "crlf" : lf ? "lf" : "none";
}

/** The text with all its line ends as one kind; also a lone CR, which VS Code takes for one. */
export function withLineEnds(text: string, eol: "lf" | "crlf"): string {
  return text.replace(/\r\n|\r|\n/g, eol === "crlf" ? "\r\n" : "\n");
}

export interface LinesOfText {
  readonly content: string;
  /** True when `content` was cut to the bound, not by the limit. */
  readonly truncated: boolean;
  readonly totalLines: number;
}

/**
 * The lines of a text that were asked for, their line ends with them.
 * @param request offset is a line from 1, 0 for the beginning; limit counts lines, 0 for all
 * @param maxLength characters that the answer may hold
 */
export function linesOfText(
  text: string,
  request: { readonly offset: number; readonly limit: number },
  maxLength: number,
): LinesOfText {
  const starts = lineStarts(text);
  const totalLines = starts.length;
  const first = Math.max(request.offset, 1) - 1;
  const start = starts[first] ?? text.length;
  const end = request.limit === 0 ? text.length : (starts[first + request.limit] ?? text.length);
  const content = text.slice(start, end);
  if (content.length <= maxLength) return { content, truncated: false, totalLines };
  const cut = content.lastIndexOf("\n", maxLength - 1) + 1;
  return { content: content.slice(0, cut === 0 ? maxLength : cut), truncated: true, totalLines };
}

/** A line begins at the start of a text and behind every line feed that something follows. */
function lineStarts(text: string): readonly number[] {
  const starts = text === "" ? [] : [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    if (at + 1 < text.length) starts.push(at + 1);
  }
  return starts;
}

export const byteOrderMark = "\uFEFF";

export function withoutByteOrderMark(text: string): string {
  return text.startsWith(byteOrderMark) ? text.slice(1) : text;
}
