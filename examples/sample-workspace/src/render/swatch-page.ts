import { textColourOn } from "../theme/channels.ts";
import type { NamedColour } from "../theme/palette.ts";
import { renderStyleSheet } from "./style-sheet.ts";

/** A page with one swatch for every colour, its name and value printed on it. */
export function renderSwatchPage(title: string, palette: readonly NamedColour[]): string {
  const swatches = palette.map(
    ({ name, value, colour }) =>
      `<li style="background: var(--colour-${name}); color: ${textColourOn(colour)}">${name}<br>${value}</li>`,
  );
  return `<!doctype html>
<title>${title}</title>
<style>
${renderStyleSheet(palette)}
li { list-style: none; padding: 2rem; font: 1rem sans-serif }
</style>
<ul>
${swatches.join("\n")}
</ul>
`;
}
