/**
 * One custom property for every colour: `--colour-accent: #c2410c;`.
 * @param {readonly import("../theme/palette.js").NamedColour[]} palette
 */
export function renderStyleSheet(palette) {
  const properties = palette.map(({ name, value }) => `  --colour-${name}: ${value};`);
  return [":root {", ...properties, "}", ""].join("\n");
}
