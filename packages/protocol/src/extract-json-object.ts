import { parsedJson } from "./json-value.ts";

/** Characters looked at, counted anew for each opening brace, before a text counts as one without an object. */
const maxCharacters = 16 * 1024 * 1024;

/**
 * The text of the first JSON object in mixed output of a model: prose, code fences, then JSON. Braces inside strings do not
 * count, and a brace in prose that begins no JSON is skipped. Undefined if there is none. Nothing is checked beyond what
 * `JSON.parse` accepts.
 */
export function extractFirstJsonObject(text: string): string | undefined {
  let begun: string | undefined;
  let start = text.indexOf("{");
  for (let looked = 0; start !== -1 && looked < maxCharacters; ) {
    const end = endOfObject(text, start);
    looked += (end ?? text.length) - start;
    if (end !== undefined) {
      const candidate = text.slice(start, end);
      if (parsedJson(candidate) !== undefined) return candidate;
      // Looks like an object and is not one: what its reader should hear about, if nothing better follows.
      if (begun === undefined && /^\{\s*"/.test(candidate)) begun = candidate;
    }
    start = text.indexOf("{", start + 1);
  }
  return begun;
}

/** Offset behind the brace that closes the one at `start`; undefined when none does. */
function endOfObject(text: string, start: number): number | undefined {
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (inString) {
      if (character === "\\") at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === "{") depth += 1;
    else if (character === "}") {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}
