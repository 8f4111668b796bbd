// Bundles the command line into dist/: gennai.mjs (the entry), main.mjs and its two bundles; and the page that the server serves
// into dist/page/; and the page that checks an exported ledger, ledger-page.html.
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildProgram } from "./lib/program.mjs";
import { inRepository } from "./lib/repository.mjs";
import { linkRipgrep } from "./lib/ripgrep.mjs";

const dist = inRepository("dist");
/** A running server may still load the other bundle of the build it was started from. */
const KEEP_OLD_BUNDLES_MS = 24 * 60 * 60 * 1000;

mkdirSync(dist, { recursive: true });
const { files, pageFiles } = await buildProgram({ outDir: dist }).catch(() => process.exit(1)); // esbuild has written what is wrong.
writeFileSync(join(dist, "gennai.mjs"), 'import "./main.mjs";\n');
linkRipgrep(dist);

// The server serves whatever lies there.
const page = join(dist, "page");
const served = new Set(pageFiles);
for (const name of readdirSync(page)) if (!served.has(name)) rmSync(join(page, name), { recursive: true });

const current = new Set(["gennai.mjs", ...files]);
for (const name of readdirSync(dist)) {
  const path = join(dist, name);
  const old = statSync(path).mtimeMs < Date.now() - KEEP_OLD_BUNDLES_MS;
  if (/\.m?js$/.test(name) && !current.has(name) && old) rmSync(path);
}
