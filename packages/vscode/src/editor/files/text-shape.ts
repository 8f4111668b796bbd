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

/** The text with line ends of one kind; a lone CR is replaced as well, because VS Code takes it as a line end. */
export function withLineEnds(text: string, eol: "lf" | "crlf"): string {
  return text.replace(/\r\n|\r|\n/g, eol === "crlf" ? "\r\n" : "\n");
}

export interface LinesOfText {
  readonly content: string;
  /** True if `content` was cut by `maxLength`, not by the limit. */
  readonly truncated: boolean;
  readonly totalLines: number;
}

/**
 * The requested lines of a text, with their line ends.
 * @param request offset is a line from 1, 0 for the beginning; limit counts lines, 0 for all
 * @param maxLength most characters of the answer
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

/** A line begins at the start of a text and after every line feed that is not its end. */
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
