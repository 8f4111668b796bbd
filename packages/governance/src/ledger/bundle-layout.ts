import { canonicalJson } from "@gennai/protocol/canonical-json";
import { utf8Text } from "@gennai/protocol/diff/utf8-text";
import { type RunningSha256, runningSha256 } from "@gennai/protocol/digest";
import { parsedJson } from "@gennai/protocol/json-value";
import { fileLines } from "./ledger-line.ts";

// A bundle's file is the canonical JSON of its members, with a line break before and after each record, session and event: so
// it is written, and verified, line by line, however long the ledger is. The signed text is the same without line breaks and
// signature.

/** Opens an array: the members before it, without the bracket that would close the object. */
export function openingLine(members: object, array: string): string {
  const json = canonicalJson(members).slice(0, -1);
  return `${json}${json === "{" ? "" : ","}"${array}":[`;
}

/** Closes an array and continues with members. @param next an array to open */
export function closingLine(members: object, next?: string): string {
  const json = canonicalJson(members).slice(1, -1);
  return next === undefined ? `],${json}}` : `],${json},"${next}":[`;
}

/** Elements of an array, each on a line of its own, with commas between. */
export async function* elementLines(
  elements: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<string, void, undefined> {
  let before: string | undefined;
  for await (const element of elements) {
    if (before !== undefined) yield `${before},`;
    before = element;
  }
  if (before !== undefined) yield before;
}

/** Digest of what is signed, of lines as they come. */
export class BundleDigest {
  readonly #hash: RunningSha256;
  readonly #encoder = new TextEncoder();

  /** @param hash where there is a faster one than ours */
  constructor(hash: RunningSha256 = runningSha256()) {
    this.#hash = hash;
  }

  /** Gives the line back. */
  take(line: string): string {
    this.#hash.update(this.#encoder.encode(line));
    return line;
  }

  /** Lower-case hex. */
  hex(): string {
    return this.#hash.hex();
  }
}

/** One line of a file in this layout. Elements have no comma. */
export type BundleLine =
  | { readonly type: "head"; readonly members: unknown }
  | { readonly type: "redactions"; readonly members: unknown }
  | { readonly type: "record"; readonly json: string }
  | { readonly type: "event"; readonly json: string }
  | { readonly type: "session-start"; readonly json: string }
  | { readonly type: "session-end"; readonly json: string }
  | { readonly type: "tail"; readonly members: unknown; readonly signature: string; readonly signed: string };

/** Undefined in the place of the first line that is not of this layout; nothing follows it. */
export async function* bundleLines(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<{ readonly text: string; readonly part: BundleLine } | undefined, void, undefined> {
  let place: "start" | "records" | "sessions" | "events" | "end" = "start";
  for await (const line of fileLines(chunks)) {
    const text = line.tooLong ? undefined : utf8Text(line.bytes);
    if (text === undefined) return void (yield undefined);
    const json = text.endsWith(",") ? text.slice(0, -1) : text;
    let part: BundleLine | undefined;
    if (place === "start") {
      const members = text.endsWith(',"records":[')
        ? parsedJson(`${text.slice(0, -'"records":['.length - 1)}}`)
        : undefined;
      part = members === undefined ? undefined : { type: "head", members };
      place = "records";
    } else if (place === "records") {
      const members = /^\],"redactions":(.*),"sessions":\[$/.exec(text)?.[1];
      if (members === undefined) part = { type: "record", json };
      else {
        part = { type: "redactions", members: parsedJson(members) };
        place = "sessions";
      }
    } else if (place === "sessions") {
      const [, signature, members] = /^\],"signature":"([^"]*)",("version":.*)\}$/.exec(text) ?? [];
      if (signature !== undefined && members !== undefined) {
        part = { type: "tail", members: parsedJson(`{${members}}`), signature, signed: `],${members}}` };
        place = "end";
      } else if (text.endsWith(',"events":[')) {
        part = { type: "session-start", json: `${text.slice(0, -'"events":['.length - 1)}}` };
        place = "events";
      }
    } else if (place === "events") {
      if (text.startsWith('],"')) {
        part = { type: "session-end", json: `{${json.slice(2)}` };
        place = "sessions";
      } else part = { type: "event", json };
    }
    if (part === undefined) return void (yield undefined);
    yield { text, part };
  }
  if (place !== "end") yield undefined;
}
