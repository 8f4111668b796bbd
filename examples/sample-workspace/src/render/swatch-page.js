import { textColourOn } from "../theme/channels.js";
import { renderStyleSheet } from "./style-sheet.js";

/**
 * A page with one swatch for every colour, its name and value printed on it.
 * @param {string} title
 * @param {readonly import("../theme/palette.js").NamedColour[]} palette
 */
export function renderSwatchPage(title, palette) {
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
