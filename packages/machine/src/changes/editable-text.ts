import { diffLines } from "@gennai/protocol/diff/line-diff";
import { countLineFeeds, type LineEdit, splitLines } from "@gennai/protocol/diff/line-edit";
import { type DecodedText, decodeText, encodeText } from "../workspace/files/text-file.ts";

/**
 * A text file as a model sees it: lines end with LF, and there is no byte-order mark. The file's own line ends and mark are kept
 * separately and put back, so that unchanged lines stay byte for byte, even if the file mixes line ends.
 */
export interface EditableText {
  /** With LF in place of CRLF; a lone CR is a character like any other. */
  readonly text: string;
  readonly bom: boolean;
  readonly endings: LineEndings;
}

export type LineEndings =
  | { readonly kind: "lf" }
  | { readonly kind: "crlf" }
  /** One entry per line feed: whether a CR comes before it. */
  | { readonly kind: "mixed"; readonly crlf: readonly boolean[] };

/** undefined if the bytes are not text. */
export function editableText(bytes: Uint8Array): EditableText | undefined {
  const decoded = decodeText(bytes);
  return decoded === undefined ? undefined : withPlainLineFeeds(decoded);
}

export function withPlainLineFeeds(decoded: DecodedText): EditableText {
  const { text, bom } = decoded;
  switch (decoded.eol) {
    case "lf":
    case "none":
      return { text, bom, endings: { kind: "lf" } };
    case "crlf":
      return { text: plainLineFeeds(text), bom, endings: { kind: "crlf" } };
    case "mixed":
      return {
        text: plainLineFeeds(text),
        bom,
        endings: {
          kind: "mixed",
          crlf: splitLines(text)
            .filter((line) => line.endsWith("\n"))
            .map((line) => line.endsWith("\r\n")),
        },
      };
  }
}

export function plainLineFeeds(text: string): string {
  return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
}

/**
 * The text after a change. Lines that are in both texts keep their line ends; new ones get the end of the line before them.
 * @param edits the lines that differ between `before.text` and `text`
 */
export function changedText(before: EditableText, text: string, edits: readonly LineEdit[]): EditableText {
  const { endings } = before;
  return {
    text,
    bom: before.bom,
    endings:
      endings.kind === "mixed"
        ? { kind: "mixed", crlf: changedEndings(before.text, endings.crlf, text, edits) }
        : endings,
  };
}

/** The text with the file's own line ends, without the byte-order mark. */
export function fileText(text: EditableText): string {
  const { endings } = text;
  switch (endings.kind) {
    case "lf":
      return text.text;
    case "crlf":
      return text.text.replaceAll("\n", "\r\n");
    case "mixed": {
      let index = 0;
      return text.text.replaceAll("\n", () => (endings.crlf[index++] === true ? "\r\n" : "\n"));
    }
  }
}

export function fileBytes(text: EditableText): Uint8Array {
  return encodeText(fileText(text), { bom: text.bom });
}

function changedEndings(
  oldText: string,
  oldEndings: readonly boolean[],
  newText: string,
  edits: readonly LineEdit[],
): readonly boolean[] {
  const oldLines = splitLines(oldText);
  const newLines = splitLines(newText);
  const mostly = oldEndings.filter(Boolean).length * 2 > oldEndings.length;
  const endings: boolean[] = [];
  let oldAt = 0;
  const keep = (until: number) => {
    for (; oldAt < until; oldAt += 1) endings.push(oldEndings[oldAt] ?? endings.at(-1) ?? mostly);
  };
  const insert = (count: number) => {
    const like = endings.at(-1) ?? mostly;
    for (let line = 0; line < count; line += 1) endings.push(like);
  };
  for (const edit of edits) {
    keep(edit.oldStart - 1);
    // Within an edit, some lines may be unchanged, e.g. between two changed ones.
    const oldPart = oldLines.slice(edit.oldStart - 1, edit.oldStart - 1 + edit.oldCount).join("");
    const newPart = newLines.slice(edit.newStart - 1, edit.newStart - 1 + edit.newCount).join("");
    const start = oldAt;
    for (const inner of diffLines(oldPart, newPart, { timeoutMs: 100 }).edits) {
      keep(start + inner.oldStart - 1);
      // A line that replaces another keeps its line end.
      const replaced = Math.min(inner.oldCount, inner.newCount);
      keep(oldAt + replaced);
      insert(inner.newCount - replaced);
      oldAt += inner.oldCount - replaced;
    }
    keep(start + edit.oldCount);
  }
  keep(oldLines.length);
  return endings.slice(0, countLineFeeds(newText));
}
