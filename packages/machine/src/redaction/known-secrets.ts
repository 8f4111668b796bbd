import type { SecretRange } from "./secret-range.ts";

/** Shorter strings occur in ordinary text: masking them would mask far too much. */
const shortestSecret = 8;

/** Fewest characters of an encoded form, and of a form that the end of the text cuts off. */
const shortestPart = 8;

/**
 * The strings to search for: each secret itself, and as written in JSON, in an address, in hex, and in base64 at any alignment.
 * Longest first, so that a secret that begins like another is masked completely.
 */
export function knownForms(secrets: readonly string[]): string[] {
  const long = secrets.filter((secret) => secret.length >= shortestSecret);
  return [...new Set(long.flatMap(formsOf))].sort((a, b) => b.length - a.length);
}

function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString("hex");
  const address = encodeURIComponent(secret.toWellFormed());
  const base64 = [0, 1, 2].map((before) => insideBase64(bytes, before));
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    address,
    address.replaceAll(/%[0-9A-F]{2}/g, (escaped) => escaped.toLowerCase()),
    address.replaceAll("%20", "+"),
    hex.replaceAll(/../g, "%$&"),
    hex.toUpperCase().replaceAll(/../g, "%$&"),
    hex,
    hex.toUpperCase(),
    ...base64,
    ...base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_")),
  ].filter((form) => form.length >= shortestPart);
}

/** The characters of base64 that depend on the secret alone, after a number of bytes before it. */
function insideBase64(secret: Buffer, before: number): string {
  const first = Math.ceil((before * 8) / 6);
  const end = Math.floor(((before + secret.length) * 8) / 6);
  return Buffer.concat([Buffer.alloc(before), secret])
    .toString("base64")
    .slice(first, end);
}

/** Occurrences of a known form, also if an encoder broke it over lines, or if the end of the text cuts it off. */
export function occurrences(text: string, form: string): readonly SecretRange[] {
  const found: SecretRange[] = [];
  // If a line end breaks it, one half is complete before or after the break.
  const half = Math.ceil(form.length / 2);
  const head = form.slice(0, Math.min(half, 16));
  const tail = form.slice(-head.length);
  for (let at = text.indexOf(head); at >= 0; at = text.indexOf(head, at + 1)) {
    const end = endOf(text, at, form);
    if (end !== undefined) found.push({ start: at, end, rule: "known-secret" });
  }
  if (!/[\r\n]/.test(text)) return found;
  for (let at = text.indexOf(tail); at >= 0; at = text.indexOf(tail, at + 1)) {
    const start = startOf(text, at + tail.length, form);
    if (start !== undefined) found.push({ start, end: at + tail.length, rule: "known-secret" });
  }
  return found;
}

/** The end of the form that begins at `from`; undefined if it does not occur there. */
function endOf(text: string, from: number, form: string): number | undefined {
  let at = from;
  let matched = 0;
  for (; matched < form.length; at += 1) {
    if (at === text.length) return matched >= shortestPart ? at : undefined;
    if (text[at] === form[matched]) matched += 1;
    else if (!isLineEnd(text[at]) || matched === 0) return undefined;
  }
  return at;
}

/** Start of the form that ends at `end`; undefined if it does not occur there. */
function startOf(text: string, end: number, form: string): number | undefined {
  let at = end;
  for (let left = form.length; left > 0; at -= 1) {
    if (at === 0) return undefined;
    if (text[at - 1] === form[left - 1]) left -= 1;
    else if (!isLineEnd(text[at - 1])) return undefined;
  }
  return at;
}

function isLineEnd(character: string | undefined): boolean {
  return character === "\n" || character === "\r";
}
