import { redactionMarker } from "@gennai/governance/redaction";
import type { SecretRange } from "./secret-range.ts";

const header = /-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const footer = /-----END[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;

/** Allowed between header and footer: base64, key headers, and the line prefixes of diffs and quotes. */
const body = /[A-Za-z0-9+/=\s\\:,|>"'-]/;

/** A listing may put anything before a line, e.g. `src/a_b.ts:12:` or a number and a tab; a longer line does not belong to a key. */
const longestLine = 600;

/** The end of a key's line in a listing: its material, and what quoting adds after it. */
const listedMaterial = /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{20,}={0,2}(?:\\[nr]|[\s"'`,;+)])*$/;

/** A line without material in a listing: a header of the key, or empty. */
const listedHeader = /(?:^|[^\w-])(?:Proc-Type|DEK-Info|Version|Comment|Hash):\s|^\s*\S{0,300}[:→|>+-]\s*$/;

/** Material of a key: an unfinished block is a key up to the last match. */
const material = /[A-Za-z0-9+/]{20,}={0,2}/g;

/** The beginning of a further line, numbered or not, at which the key breaks off: it contains a digit, which a word does not. */
const brokenLine =
  /^(?:\\[nr]|[\s|>+:,"'-]){1,16}(?:\d{1,9}[\t→][ \t]{0,16})?(?=[A-Za-z+/]{0,19}[0-9])[A-Za-z0-9+/]{1,20}/;

/**
 * Private keys in PEM form, also indented, quoted, in a diff, or cut off before their end. One pass: a block that turns out not
 * to be a key is not searched again.
 */
export function privateKeys(text: string): readonly SecretRange[] {
  if (!text.includes("-----BEGIN")) return [];
  const found: SecretRange[] = [];
  header.lastIndex = 0;
  for (let match = header.exec(text); match !== null; match = header.exec(text)) {
    const end = blockEnd(text, header.lastIndex);
    if (end.type === "key") found.push({ start: match.index, end: end.keyEnd, rule: "private-key" });
    header.lastIndex = end.at;
  }
  return found;
}

/** Where an unfinished private key begins at the end of a text; undefined if there is none. */
export function openPrivateKey(text: string): number | undefined {
  // The header itself may be incomplete, and it contains blanks.
  const partial = /-----B(?:E(?:G(?:I(?:N[A-Z0-9 ]{0,60}-{0,4})?)?)?)?$/.exec(text);
  if (partial !== null) return partial.index;
  if (!text.includes("-----BEGIN")) return undefined;
  header.lastIndex = 0;
  for (let match = header.exec(text); match !== null; match = header.exec(text)) {
    const end = blockEnd(text, header.lastIndex, { open: true });
    if (end.at === text.length && !end.closed) return match.index;
    header.lastIndex = end.at;
  }
  return undefined;
}

/** The length of the beginning of `text` that continues a key whose beginning was already dropped. */
export function restOfPrivateKey(text: string): { readonly length: number; readonly ended: boolean } {
  const end = blockEnd(text, 0, { open: true });
  return { length: end.at, ended: end.closed || end.at < text.length };
}

/** @param how.open true if more text may follow: then an unfinished line may belong to the key */
function blockEnd(
  text: string,
  from: number,
  how: { readonly open: boolean } = { open: false },
): { readonly type: "key" | "other"; readonly at: number; readonly keyEnd: number; readonly closed: boolean } {
  const at = bodyEnd(text, from, how);
  footer.lastIndex = from;
  const close = footer.exec(text.slice(0, at));
  if (close !== null) {
    const keyEnd = close.index + close[0].length;
    return { type: "key", at: keyEnd, keyEnd, closed: true };
  }
  let keyEnd = from;
  for (const line of text.slice(from, at).matchAll(material)) keyEnd = from + line.index + line[0].length;
  if (keyEnd > from) keyEnd += brokenLine.exec(text.slice(keyEnd, at))?.[0].length ?? 0;
  return { type: keyEnd > from ? "key" : "other", at, keyEnd, closed: false };
}

function bodyEnd(text: string, from: number, { open }: { readonly open: boolean }): number {
  let at = from;
  /** What the listing put before the last line of material, without its numbers. */
  let listing: string | undefined;
  for (;;) {
    while (at < text.length && body.test(text.charAt(at))) at += 1;
    if (at === text.length) return at;
    const feed = text.lastIndexOf("\n", at);
    // Text after the header on the same line does not come from a listing.
    if (feed < from && from > 0) return at;
    const start = Math.max(feed + 1, from);
    const rest = text.slice(start, start + longestLine);
    const length = rest.indexOf("\n");
    if (length < 0 && rest.length === longestLine) return at;
    const line = length < 0 ? rest : rest.slice(0, length);
    const closing = line.search(/-----END[A-Z0-9 ]/);
    const material = listedMaterial.exec(line);
    if (closing >= 0 && start + closing >= at) at = start + closing;
    else if (material !== null) {
      listing = withoutNumbers(line.slice(0, material.index));
      at = start + line.length;
    } else if (
      listedHeader.test(line) ||
      (length < 0 && open) ||
      (listing !== undefined && listing === withoutNumbers(line.replace(/[A-Za-z0-9+/]{1,20}={0,2}\s*$/, "")))
    ) {
      at = start + line.length;
    } else return at;
  }
}

function withoutNumbers(prefix: string): string {
  return prefix.trimStart().replaceAll(/\d+/g, "0");
}

/**
 * `shown` without the lines of private keys in `whole`: a part of a text may not show where a key begins. Line ends stay.
 * @param shown parts of `whole`, with any text before and after its lines
 */
export function withoutKeyLines(shown: string, whole: readonly string[]): string {
  const lines = new Set<string>();
  for (const text of whole) {
    for (const { start, end } of privateKeys(text)) {
      for (const line of text.slice(start, end).split("\n")) {
        const [run] =
          /[A-Za-z0-9+/]{8,}={0,2}/.exec(line.includes("-----") ? "" : line.replace(/^[^:]{1,30}: .*/, "")) ?? [];
        if (run !== undefined) lines.add(run);
      }
    }
  }
  if (lines.size === 0) return shown;
  // Runs are compared as a whole: a key's last line may be short enough to occur in a word.
  return shown.replaceAll(/[A-Za-z0-9+/]{8,}={0,2}/g, (run) =>
    lines.has(run) ? `${redactionMarker}private-key]` : run,
  );
}
