import type { RedactionStream } from "@gennai/governance/redaction";
import pLimit from "p-limit";
import { openOption } from "./announced-secrets.ts";
import { openPrivateKey, privateKeys, restOfPrivateKey } from "./private-key.ts";
import { type FindSecrets, mask, rangesBehind } from "./secret-range.ts";

/** Most characters of a run without a blank that are held back. */
export const longestRun = 4 * 1024;

/** Characters of a longer run that stay held back: longer secrets are recognized by their beginning. */
export const keptOfLongRun = 2 * 1024;

/** Characters that were shown and still matter as context: a command line, an entry of a `.netrc`. */
export const context = 512;

/** Most characters of a private key that are held back; a longer one is masked at once. */
export const heldKeyLength = 16 * 1024;

/** A word after which a secret may follow: only the next word decides. */
const pendingWord =
  /(?:^|[\s])(\S*(?:authorization|bearer|basic|digest|negotiate|passw(?:or)?d|passphrase|secret|token|key|session[_-]?id)[\w"']*|\S{0,256}[:=]>?["']?|["'])[ \t]*$/i;

/** Redacts text that arrives in pieces of any size; the result is the same as for the whole text. */
export function createRedactionStream(find: FindSecrets, exact: readonly string[]): RedactionStream {
  let buffer = "";
  /** The end of the shown text, unmasked. */
  let shown = "";
  /** True while the rest of a private key is dropped, whose beginning was already masked. */
  let inKey = false;
  const inOrder = pLimit(1);

  const emit = async (cut: number): Promise<string> => {
    if (cut <= 0) return "";
    const text = buffer.slice(0, cut);
    buffer = buffer.slice(cut);
    const ranges = await find(shown + text);
    const masked = mask(text, rangesBehind(ranges, shown.length));
    shown = (shown + text).slice(-context);
    return masked;
  };

  const advance = async (): Promise<string> => {
    if (inKey) {
      const rest = restOfPrivateKey(buffer);
      if (!rest.ended) {
        // The end mark may be split over two pieces, so as much as it needs is kept.
        buffer = buffer.slice(-128);
        return "";
      }
      buffer = buffer.slice(rest.length);
      inKey = false;
    }
    const key = openPrivateKey(buffer);
    if (key !== undefined && buffer.length - key > heldKeyLength) {
      const before = await emit(key);
      const masked = mask(buffer, await find(buffer));
      inKey = true;
      shown = "";
      buffer = buffer.slice(-128);
      return before + masked;
    }
    const cut = safeCut(buffer, key ?? buffer.length, exact);
    if (cut > 0 || (key ?? buffer.length) <= longestRun) return emit(cut);
    // A single run that is longer than what is held back: a secret found in it is not split.
    let split = (key ?? buffer.length) - keptOfLongRun;
    for (const { start, end } of await find(buffer)) if (start < split && end > split) split = start;
    return emit(split);
  };

  return {
    push: (text) =>
      inOrder(async () => {
        buffer += text;
        return advance();
      }),
    end: () =>
      inOrder(async () => {
        const rest = inKey ? buffer.slice(restOfPrivateKey(buffer).length) : buffer;
        buffer = rest;
        inKey = false;
        return emit(buffer.length);
      }),
  };
}

/** The length of the text that can be judged without the text after it: whole words, none of which announces a secret. */
export function safeCut(text: string, limit: number, exact: readonly string[]): number {
  const open = openOption.exec(text.slice(Math.max(0, limit - 512), limit));
  let cut = open === null ? limit : Math.max(0, limit - open[0].trimStart().length);
  if (cut === text.length) {
    while (cut > 0 && !/\s/.test(text.charAt(cut - 1))) cut -= 1;
  }
  for (let round = 0; round < 8 && cut > 0; round += 1) {
    const pending = pendingWord.exec(text.slice(Math.max(0, cut - 512), cut));
    if (pending === null || text.charAt(cut - 1) === "\n") break;
    cut = Math.max(0, cut - 512) + pending.index + (pending[0].length - pending[0].trimStart().length);
  }
  // A key contains blanks, and must not be split.
  for (const { start, end } of privateKeys(text)) if (start < cut && end > cut) cut = start;
  for (const secret of exact) {
    if (!/\s/.test(secret)) continue;
    for (let length = Math.min(secret.length - 1, text.length); length > 0; length -= 1) {
      if (text.endsWith(secret.slice(0, length))) cut = Math.min(cut, text.length - length);
    }
  }
  return cut;
}
