/**
 * Decodes a file that holds text. undefined when it is binary: a NUL in the first 8 KiB, or bytes that are not UTF-8.
 * `encodeText(decoded.text, decoded)` gives back the same bytes.
 */
export function decodeText(bytes: Uint8Array): DecodedText | undefined {
  if (bytes.subarray(0, binaryProbeLength).includes(0)) return undefined;
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  try {
    const text = strictUtf8.decode(bom ? bytes.subarray(3) : bytes);
    return { text, bom, eol: endOfLine(text) };
  } catch {
    return undefined;
  }
}

/** The bytes of a text. Line ends are as in `text`; a BOM is added if requested. */
export function encodeText(text: string, options: { readonly bom: boolean }): Uint8Array {
  const body = utf8Encoder.encode(text);
  if (!options.bom) return body;
  const bytes = new Uint8Array(body.length + 3);
  bytes.set([0xef, 0xbb, 0xbf]);
  bytes.set(body, 3);
  return bytes;
}

export interface DecodedText {
  /** Without the BOM; line ends as in the file. */
  readonly text: string;
  /** True if there was a UTF-8 byte order mark. */
  readonly bom: boolean;
  readonly eol: EndOfLine;
}

/** How lines end: `none` for a text of one line, `mixed` when both kinds occur. A lone CR is not a line end here. */
export type EndOfLine = "lf" | "crlf" | "mixed" | "none";

/** How the lines of a text end. */
export function endOfLine(text: string): EndOfLine {
  // Looking for a text is many times as fast as looking at each line.
  if (!text.includes("\r\n")) return text.includes("\n") ? "lf" : "none";
  return /(?<!\r)\n/.test(text) ? "mixed" : "crlf";
}

const binaryProbeLength = 8192;
// ignoreBOM keeps a second BOM as text: only the first one, cut off above, is a mark.
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const utf8Encoder = new TextEncoder();
