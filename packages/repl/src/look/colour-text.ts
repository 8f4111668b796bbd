import { loadCodeLanguage } from "./code-language.ts";
import { type ColouredPart, lineColours } from "./line-colours.ts";

/** Number of texts whose colours are kept: several parts of one file are shown at once. */
const maxKept = 16;

const kept = new Map<string, Promise<readonly (readonly ColouredPart[])[]>>();

/**
 * The coloured parts of each line of a text, in the language that its path names; empty if the language is not known. Rejects if
 * the parser cannot be loaded.
 */
export function colourText(text: string, path: string): Promise<readonly (readonly ColouredPart[])[]> {
  const key = `${path}\n${text}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const lines = loadCodeLanguage(path).then((found) =>
    found === undefined ? [] : lineColours(text, found.language.parser),
  );
  kept.set(key, lines);
  lines.catch(() => kept.delete(key));
  const [oldest] = kept.keys();
  if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
  return lines;
}
