// Writes docs/reference/, and what the extension's manifest lists, from the code: `npm run generate`. With --check only says
// whether it is what would be written.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { extensionManifest } from "./lib/reference/extension-manifest.mjs";
import { referencePages } from "./lib/reference/pages.mjs";
import { inRepository } from "./lib/repository.mjs";

// Help is folded to the width of a terminal; a page has one width.
process.stdout.columns = 80;

const files = [...(await referencePages()), extensionManifest()];
const known = new Set(files.map(({ file }) => file));
mkdirSync(inRepository("docs", "reference"), { recursive: true });
const strangers = readdirSync(inRepository("docs", "reference"))
  .map((name) => `docs/reference/${name}`)
  .filter((file) => !known.has(file));

if (process.argv.includes("--check")) {
  const stale = files.filter(({ file, text }) => text !== textOf(file)).map(({ file }) => file);
  for (const name of [...stale, ...strangers]) process.stdout.write(`${name} is not what the code says.\n`);
  if (stale.length + strangers.length > 0) {
    process.stdout.write("Run: npm run generate\n");
    process.exitCode = 1;
  }
} else {
  for (const name of strangers) rmSync(inRepository(name));
  for (const { file, text } of files) writeFileSync(inRepository(file), text);
}

/** @param {string} file */
function textOf(file) {
  try {
    return readFileSync(inRepository(file), "utf8");
  } catch {
    return undefined;
  }
}
