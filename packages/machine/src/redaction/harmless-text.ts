import { openOption, passwordPrograms } from "./announced-secrets.ts";

/** Words that announce a secret after them. */
const announcing =
  "(?:authorization|api[_-]?key|passw(?:or)?d|passphrase|secret|token|key|pat|pwd|sas|auth|credential|account|session[_-]?id)[\\w\"'\\\\-]{0,40}[ \\t]{0,4}[:=]|(?:bearer|basic|digest|negotiate)[ \\t]";
const announcement = new RegExp(announcing, "i");
const scheme = /(?:bearer|basic|digest|negotiate)[ \t]/i;
/** A value after such words, up to the end of the text. */
const announcedEnd = new RegExp(`(?:${announcing})>?[ \\t]{0,4}\\\\?["'\`]?(?:[a-z]{1,12}[ \\t]{1,4})?\\S+$`, "i");

/** Every secret without an announcement contains one of these. */
const telling = /[A-Za-z0-9_+/=.-]{20}|:\/\/|:(?:\d{4,5}|\*):|-----B|xox[a-z]-|SG\./;

/** Ends of texts that cannot begin a secret: one word, an abbreviation, a short number, punctuation. */
const harmlessRun = /^(?!dapi)(?:[A-Za-z]?[a-z]{0,24}\.{0,3}|[A-Z]{1,3}|\d{1,4}|[-=./~+_]{1,4})$/;

/** Maximum distance between an announcement and its value. */
const announcementReach = 96;

/** After this many characters of an exact secret, the rest may follow. */
const tellingPrefix = 4;

/**
 * The length of the text that can be shown if nothing in it needs masking; undefined if that needs a closer check.
 * @param from offset up to which the text was already shown
 * @param cut gives where to stop if the end may be the beginning of a secret
 */
export function showableAtOnce(
  text: string,
  from: number,
  exact: readonly string[],
  cut: () => number,
): number | undefined {
  if (text.indexOf("-----B", Math.max(0, from - 6)) >= 0 || announces(text, from)) return undefined;
  if (passwordPrograms.test(text)) return undefined;
  const to = harmlessTail(text, exact) ? text.length : cut();
  if (to <= from) return to;
  if (telling.test(text.slice(wordStart(text, from), to))) return undefined;
  const known = exact.some((secret) => {
    const at = text.indexOf(secret, Math.max(0, from - secret.length));
    return at >= 0 && at < to;
  });
  return known ? undefined : to;
}

/** True if nothing at the end of the text can be the beginning of a secret, so that it may be shown. */
export function harmlessEnd(text: string, from: number, exact: readonly string[]): boolean {
  if (!harmlessTail(text, exact)) return false;
  return !(announces(text, from) && announcedEnd.test(text.slice(Math.max(0, from - announcementReach))));
}

function harmlessTail(text: string, exact: readonly string[]): boolean {
  let run = text.length;
  while (run > 0 && text.length - run <= 40 && inToken(text.charCodeAt(run - 1))) run -= 1;
  if (!harmlessRun.test(text.slice(run))) return false;
  const word = text.slice(wordStart(text, run));
  // `user:password`, an address, an assignment.
  if (/[:=]/.test(word)) return false;
  if (text.includes("-", text.length - 300) && openOption.test(text.slice(-300))) return false;
  return !exact.some((secret) => endsInBeginning(text, secret));
}

function announces(text: string, from: number): boolean {
  const near = text.slice(Math.max(0, from - announcementReach));
  return scheme.test(near) || (/[:=]/.test(near) && announcement.test(near));
}

function wordStart(text: string, from: number): number {
  let at = from;
  while (at > 0 && from - at < 512 && !blank(text.charCodeAt(at - 1))) at -= 1;
  return at;
}

function endsInBeginning(text: string, secret: string): boolean {
  const beginning = secret.slice(0, tellingPrefix);
  const from = Math.max(0, text.length - secret.length + 1);
  for (let at = text.indexOf(beginning, from); at >= 0; at = text.indexOf(beginning, at + 1)) {
    if (secret.startsWith(text.slice(at))) return true;
  }
  return false;
}

/** True for letters, digits and `+ - . / = _ ~`: the characters of tokens. */
function inToken(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 45 && code <= 57) ||
    code === 95 ||
    code === 43 ||
    code === 61 ||
    code === 126
  );
}

function blank(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13) || code === 160;
}
