import assert from "node:assert/strict";
import { test } from "node:test";
import { renderSwatchPage } from "../src/render/swatch-page.js";
import { readPalette } from "../src/theme/palette.js";

test("short and long values are read", () => {
  const names = readPalette('{"ink": "#123", "paper": "#fdfcf7"}').map(({ name }) => name);
  assert.deepEqual(names, ["ink", "paper"]);
});

test("every bad entry is named", () => {
  assert.throws(() => readPalette('{"Ink": "#123", "paper": "white"}'), /"Ink".*"paper"/);
});

test("text is dark on light swatches and light on dark ones", () => {
  const page = renderSwatchPage("Test", readPalette('{"ink": "#000", "paper": "#fff"}'));
  assert.match(page, /#ffffff">ink/);
  assert.match(page, /#000000">paper/);
});
