// Writes docs/reference/ from the code: `npm run generate`. With --check only says whether it is what would be written.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { referencePages } from "./lib/reference/pages.mjs";
import { inRepository } from "./lib/repository.mjs";

// Help is folded to the width of a terminal; a page has one width.
process.stdout.columns = 80;

const directory = inRepository("docs", "reference");
const pages = await referencePages();
const known = new Set(pages.map(({ file }) => file));
mkdirSync(directory, { recursive: true });
const strangers = readdirSync(directory).filter((name) => !known.has(name));

if (process.argv.includes("--check")) {
  const stale = pages.filter(({ file, text }) => text !== textOf(file)).map(({ file }) => file);
  for (const name of [...stale, ...strangers])
    process.stdout.write(`docs/reference/${name} is not what the code says.\n`);
  if (stale.length + strangers.length > 0) {
    process.stdout.write("Run: npm run generate\n");
    process.exitCode = 1;
  }
} else {
  for (const name of strangers) rmSync(inRepository("docs", "reference", name));
  for (const { file, text } of pages) writeFileSync(inRepository("docs", "reference", file), text);
}

/** @param {string} file */
function textOf(file) {
  try {
    return readFileSync(inRepository("docs", "reference", file), "utf8");
  } catch {
    return undefined;
  }
}
