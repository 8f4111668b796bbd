import { parseColour } from "./channels.js";

/**
 * A colour of a palette; `value` is the colour as it was written, for the style sheet.
 * @typedef {{ name: string, value: string, colour: import("./channels.js").Colour }} NamedColour
 */

/**
 * Reads a palette, a JSON object of names and colours. Throws one error that names every bad entry.
 * @param {string} json
 */
export function readPalette(json) {
  const entries = Object.entries(JSON.parse(json));
  /** @type {string[]} */
  const problems = [];
  /** @type {NamedColour[]} */
  const palette = [];
  for (const [name, value] of entries) {
    const colour = typeof value === "string" ? parseColour(value) : undefined;
    if (!/^[a-z][a-z0-9-]*$/.test(name)) problems.push(`"${name}" is not a good name for a colour`);
    else if (colour === undefined) problems.push(`"${name}" has no readable colour`);
    else palette.push({ name, value: String(value), colour });
  }
  if (problems.length > 0) throw new Error(problems.join("; "));
  return palette;
}
