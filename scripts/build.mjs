// Bundles the command line into dist/: gennai.mjs (the entry), main.mjs and chunks that load when they are needed; and the
// page that the server serves into dist/page/.
//
// ES modules with splitting, started through V8's compile cache: what is lazy stays unread.
import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { buildCommandLine } from "../packages/cli/scripts/build.mjs";
import { buildRepl } from "../packages/repl/scripts/build.mjs";
import { inRepository } from "./lib/repository.mjs";

const dist = inRepository("dist");
/** A running server may still load chunks of the build it was started from. */
const KEEP_OLD_CHUNKS_MS = 24 * 60 * 60 * 1000;

mkdirSync(dist, { recursive: true });
const { outputs } = await buildCommandLine({ outDir: dist });
writeFileSync(
  join(dist, "gennai.mjs"),
  `import { enableCompileCache } from "node:module";
enableCompileCache(${"`${import.meta.dirname}/.compile-cache`"});
await import("./main.mjs");
`,
);

const page = join(dist, "page");
const { files } = await buildRepl({ outDir: page }).catch(() => process.exit(1));
// The server serves whatever lies there.
const served = new Set(files.map((file) => basename(file)));
for (const name of readdirSync(page)) if (!served.has(name)) rmSync(join(page, name), { recursive: true });

// ripgrep is found as a package, from where the bundle lies.
const ripgrep = join(dist, "node_modules", "@vscode", "ripgrep");
rmSync(ripgrep, { force: true });
mkdirSync(dirname(ripgrep), { recursive: true });
symlinkSync(
  relative(dirname(ripgrep), inRepository("packages/machine/node_modules/@vscode/ripgrep")),
  ripgrep,
  "junction",
);

for (const name of readdirSync(dist)) {
  const path = join(dist, name);
  const old = statSync(path).mtimeMs < Date.now() - KEEP_OLD_CHUNKS_MS;
  if (name.endsWith(".mjs") && name !== "gennai.mjs" && outputs[name] === undefined && old) rmSync(path);
}
