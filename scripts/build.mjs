// Bundles the command line into dist/: gennai.mjs (the entry), main.mjs and chunks that load when they are needed; and the
// page that the server serves into dist/page/; and the page that checks an exported ledger, ledger-page.html.
//
// ES modules with splitting, started through V8's compile cache: measured against one CommonJS file, also cached, a server
// listens after 134 ms instead of 155 ms (an empty script: 27 ms), because what is lazy stays unread.
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { buildCommandLine } from "../packages/cli/scripts/build.mjs";
import { buildLedgerPage } from "../packages/ledger-page/scripts/build.mjs";
import { buildRepl } from "../packages/repl/scripts/build.mjs";
import { startedThroughCache } from "./lib/compile-cache.mjs";
import { inRepository } from "./lib/repository.mjs";
import { linkRipgrep } from "./lib/ripgrep.mjs";

const dist = inRepository("dist");
/** A running server may still load chunks of the build it was started from. */
const KEEP_OLD_CHUNKS_MS = 24 * 60 * 60 * 1000;

mkdirSync(dist, { recursive: true });
const { metafile } = await buildCommandLine({ outDir: dist }).catch(() => process.exit(1)); // esbuild has written what is wrong.
writeFileSync(join(dist, "gennai.mjs"), startedThroughCache("./main.mjs"));

const page = join(dist, "page");
const { files } = await buildRepl({ outDir: page }).catch(() => process.exit(1));
// The server serves whatever lies there.
const served = new Set(files.map((file) => basename(file)));
for (const name of readdirSync(page)) if (!served.has(name)) rmSync(join(page, name), { recursive: true });

await buildLedgerPage({ outDir: dist }).catch(() => process.exit(1));
linkRipgrep(dist);

const current = new Set(Object.keys(metafile.outputs).map((output) => relative(dist, inRepository(output))));
for (const name of readdirSync(dist)) {
  const path = join(dist, name);
  const old = statSync(path).mtimeMs < Date.now() - KEEP_OLD_CHUNKS_MS;
  if (name.endsWith(".mjs") && name !== "gennai.mjs" && !current.has(name) && old) rmSync(path);
}
