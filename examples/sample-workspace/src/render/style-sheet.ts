import type { NamedColour } from "../theme/palette.ts";

/** One custom property for every colour: `--colour-accent: #c2410c;`. */
export function renderStyleSheet(palette: readonly NamedColour[]): string {
  const properties = palette.map(({ name, value }) => `  --colour-${name}: ${value};`);
  return [":root {", ...properties, "}", ""].join("\n");
}
