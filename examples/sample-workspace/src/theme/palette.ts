import { type Colour, parseColour } from "./channels.ts";

export interface NamedColour {
  readonly name: string;
  /** As it was written, for the style sheet. */
  readonly value: string;
  readonly colour: Colour;
}

/** Reads a palette, a JSON object of names and colours. Throws one error that names every bad entry. */
export function readPalette(json: string): NamedColour[] {
  const entries = Object.entries(JSON.parse(json) as Record<string, unknown>);
  const problems: string[] = [];
  const palette: NamedColour[] = [];
  for (const [name, value] of entries) {
    const colour = typeof value === "string" ? parseColour(value) : undefined;
    if (!/^[a-z][a-z0-9-]*$/.test(name)) problems.push(`"${name}" is not a good name for a colour`);
    else if (colour === undefined) problems.push(`"${name}" has no readable colour`);
    else palette.push({ name, value: String(value), colour });
  }
  if (problems.length > 0) throw new Error(problems.join("; "));
  return palette;
}
