import { type Redactor, redactionMarker } from "@gennai/governance/redaction";
import { parsedJson } from "@gennai/protocol/json-value";

/** JSON whose strings are masked one by one: valid JSON stays valid, and a secret with escapes in it is found as well. */
export async function redactArguments(json: string, redactor: Redactor): Promise<string> {
  const redaction = new ArgumentsRedaction(redactor);
  return redaction.settle(json, (await redaction.push(json)) + (await redaction.end()));
}

/** Masks JSON that arrives in pieces. A string is held back until it is complete. */
export class ArgumentsRedaction {
  readonly #redactor: Redactor;
  #rest = "";
  /** Characters of `#rest` that are known to belong to its string. */
  #scanned = 0;
  /** The last string, and the text after it: a key tells what its value is. */
  #last = "";
  #behindLast = "";
  #taken = "";
  #shown = "";

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** Takes the next piece, and gives what can be shown. Await each call before the next. */
  async push(text: string): Promise<string> {
    this.#taken += text;
    this.#rest += text;
    let shown = "";
    for (;;) {
      if (this.#rest.startsWith('"')) {
        const end = this.#stringEnd();
        if (end === undefined) break;
        const literal = this.#rest.slice(0, end);
        this.#rest = this.#rest.slice(end);
        shown += await this.#string(literal);
      } else {
        const quote = this.#rest.indexOf('"');
        if (quote < 0 && !isStructure(this.#rest)) break;
        const between = quote < 0 ? this.#rest : this.#rest.slice(0, quote);
        this.#rest = this.#rest.slice(between.length);
        shown += await this.#between(between);
        if (quote < 0) break;
      }
    }
    this.#shown += shown;
    return shown;
  }

  /** The rest, also of JSON that was cut off. */
  async end(): Promise<string> {
    const rest = this.#rest;
    this.#rest = "";
    this.#scanned = 0;
    const shown = rest.startsWith('"') ? await this.#string(rest) : await this.#between(rest);
    this.#shown += shown;
    return shown;
  }

  /** The whole masked text of a call whose pieces were passed to `push`; if it differs from them, it is masked again. */
  async whole(json: string): Promise<string> {
    return json === this.#taken ? this.settle(json, this.#shown) : redactArguments(json, this.#redactor);
  }

  /** Text that is not JSON has no strings to go by, so it is redacted once more as a whole. */
  async settle(json: string, masked: string): Promise<string> {
    return parsedJson(json) === undefined ? this.#redactor.redact(masked) : masked;
  }

  async #between(text: string): Promise<string> {
    this.#behindLast = (this.#behindLast + text.trim()).slice(0, 2);
    return isStructure(text) ? text : this.#redactor.redact(text);
  }

  async #string(literal: string): Promise<string> {
    const key = this.#behindLast === ":" ? this.#last : undefined;
    const closed = parsedJson(literal);
    const value = closed ?? parsedJson(`${literal}"`);
    this.#last = typeof value === "string" ? value : "";
    this.#behindLast = "";
    if (typeof value !== "string") return this.#redactor.redact(literal);
    const masked = await this.#value(value, key);
    if (masked === value) return literal;
    const text = JSON.stringify(masked);
    return closed === undefined ? text.slice(0, -1) : text;
  }

  async #value(value: string, key: string | undefined): Promise<string> {
    const masked = await this.#redactor.redact(value);
    if (masked !== value || key === undefined || /["\s]/.test(value)) return masked;
    const before = `"${key}": "`;
    const together = await this.#redactor.redact(`${before}${value}"`);
    if (together === `${before}${value}"`) return value;
    if (together.startsWith(before) && together.endsWith('"')) return together.slice(before.length, -1);
    // The key is masked as well.
    return together.endsWith(`${value}"`) ? value : `${redactionMarker}value]`;
  }

  #stringEnd(): number | undefined {
    let at = Math.max(1, this.#scanned);
    for (; at < this.#rest.length; at += 1) {
      const code = this.#rest.charCodeAt(at);
      if (code === 92) at += 1;
      else if (code === 34) {
        this.#scanned = 0;
        return at + 1;
      }
    }
    this.#scanned = at;
    return undefined;
  }
}

/** True for text that can only be between the strings of JSON. */
function isStructure(text: string): boolean {
  return !/[^\s{}[\],:0-9.eE+truefalsn-]|[a-z0-9]{30}/.test(text);
}
