import type { LiveRedactionStream } from "@gennai/governance/redaction";
import pLimit from "p-limit";
import { harmlessEnd, showableAtOnce } from "./harmless-text.ts";
import { openPrivateKey, restOfPrivateKey } from "./private-key.ts";
import { context, heldKeyLength, keptOfLongRun, longestRun, safeCut } from "./redaction-stream.ts";
import { type FindSecrets, mask, rangesBehind } from "./secret-range.ts";

const tokenCharacters = /^[A-Za-z0-9+/=_-]+$/;

/** Redacts text while it is written. It holds back only an end that may be the beginning of a secret. */
export function createLiveRedactionStream(find: FindSecrets, exact: readonly string[]): LiveRedactionStream {
  /** Unmasked: the shown text that still matters as context, followed by what is held back. */
  let raw = "";
  let shown = 0;
  /** True while the rest of a private key is dropped, whose beginning was already masked. */
  let inKey = false;
  /** Number of held characters at which a long run is checked again. */
  let nextLook = 0;
  const inOrder = pLimit(1);
  const isBusy = (): boolean => inOrder.activeCount + inOrder.pendingCount > 0;

  const showTo = (cut: number): void => {
    shown = cut;
    // Cut only when there is twice as much, to cut rarely.
    if (shown <= 2 * context) return;
    raw = raw.slice(shown - context);
    shown = context;
  };

  const emit = async (cut: number): Promise<string> => {
    if (cut <= shown) return "";
    const ranges = await find(raw.slice(0, cut));
    const text = mask(raw.slice(shown, cut), rangesBehind(ranges, shown));
    showTo(cut);
    return text;
  };

  const advance = async (): Promise<string> => {
    if (inKey) {
      const rest = restOfPrivateKey(raw);
      if (!rest.ended) {
        // The end mark may be split over two pieces, so as much as it needs is kept.
        raw = raw.slice(-128);
        return "";
      }
      raw = raw.slice(rest.length);
      shown = 0;
      inKey = false;
    }
    const key = openPrivateKey(raw);
    if (key !== undefined && raw.length - key > heldKeyLength) {
      const masked = await emit(raw.length);
      enterKey();
      return masked;
    }
    const limit = Math.max(key ?? raw.length, shown);
    const cut = limit === raw.length && harmlessEnd(raw, shown, exact) ? limit : safeCut(raw, limit, exact);
    if (cut > shown || limit - shown <= longestRun) return emit(cut);
    // A single run that is longer than what is held back: a secret found in it is not split.
    let split = limit - keptOfLongRun;
    for (const { start, end } of await find(raw)) if (start < split && end > split) split = start;
    return emit(split);
  };

  const enterKey = (): void => {
    inKey = true;
    raw = raw.slice(-128);
    shown = 0;
  };

  return {
    get holding() {
      return isBusy() || (!inKey && raw.length > shown);
    },
    pushNow: (text) => {
      if (isBusy() || inKey) return undefined;
      const next = raw + text;
      if (next.length - shown > longestRun) return undefined;
      // In a long run of token characters, each piece would mean a check of the whole run: it is checked only now and then.
      if (raw.length > shown && next.length - shown < nextLook && tokenCharacters.test(text)) {
        raw = next;
        return "";
      }
      const cut = showableAtOnce(next, shown, exact, () => safeCut(next, next.length, exact));
      if (cut === undefined) return undefined;
      raw = next;
      if (cut <= shown) {
        const held = raw.length - shown;
        nextLook = held + Math.max(16, held >> 2);
        return "";
      }
      const now = raw.slice(shown, cut);
      showTo(cut);
      return now;
    },
    push: (text) =>
      inOrder(() => {
        raw += text;
        return advance();
      }),
    flush: () =>
      inOrder(async () => {
        if (inKey) return "";
        const key = openPrivateKey(raw);
        const unfinished = key !== undefined && (await find(raw)).some(({ start, end }) => start <= key && end > key);
        const rest = await emit(raw.length);
        if (unfinished) enterKey();
        return rest;
      }),
  };
}
