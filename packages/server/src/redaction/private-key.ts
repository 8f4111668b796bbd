import type { SecretRange } from "./secret-range.ts";

const header = /-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const footer = /-----END[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;

/** What may stand between the two: base64, headers, and what diffs, listings and quoting put before lines. */
const body = /[A-Za-z0-9+/=\s\\:,|>"'-]/;

/** A line of a key's material: an unfinished block is a key up to the last of them. */
const material = /[A-Za-z0-9+/]{20,}={0,2}/g;

/** The beginning of one more line, where the key breaks off: it has a digit, which a word has not. */
const brokenLine = /^(?:\\[nr]|[\s|>+:,"'-]){1,16}(?=[A-Za-z+/]{0,19}[0-9])[A-Za-z0-9+/]{1,20}/;

/**
 * Private keys in PEM form, also indented, quoted, in a diff, or cut off before their end.
 * One pass: a block that turns out not to be a key is not looked at again.
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

/** Where an unfinished private key begins at the end of a text; undefined when none does. */
export function openPrivateKey(text: string): number | undefined {
  // The header itself may still be incomplete, and it has blanks in it.
  const partial = /-----B(?:E(?:G(?:I(?:N[A-Z0-9 ]{0,60}-{0,4})?)?)?)?$/.exec(text);
  if (partial !== null) return partial.index;
  if (!text.includes("-----BEGIN")) return undefined;
  header.lastIndex = 0;
  for (let match = header.exec(text); match !== null; match = header.exec(text)) {
    const end = blockEnd(text, header.lastIndex);
    if (end.at === text.length && !end.closed) return match.index;
    header.lastIndex = end.at;
  }
  return undefined;
}

/** How much of `text` continues a key whose beginning is gone already. */
export function restOfPrivateKey(text: string): { readonly length: number; readonly ended: boolean } {
  const end = blockEnd(text, 0);
  return { length: end.at, ended: end.closed || end.at < text.length };
}

function blockEnd(
  text: string,
  from: number,
): { readonly type: "key" | "other"; readonly at: number; readonly keyEnd: number; readonly closed: boolean } {
  let at = from;
  while (at < text.length && body.test(text.charAt(at))) at += 1;
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
