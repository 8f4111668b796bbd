import { readFileSync } from "node:fs";
import { renderSwatchPage } from "./render/swatch-page.js";
import { readPalette } from "./theme/palette.js";

const path = process.argv[2];
if (path === undefined) {
  console.error("Name a palette: npm start -- docs/palette.json");
  process.exitCode = 2;
} else {
  try {
    process.stdout.write(renderSwatchPage("Our colours", readPalette(readFileSync(path, "utf8"))));
  } catch (error) {
    console.error(`Cannot use ${path}: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
