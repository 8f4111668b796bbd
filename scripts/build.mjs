// Bundles the command line into dist/: gennai.mjs (the entry), main.mjs and chunks that load when they are needed.
//
// ES modules with splitting, started through V8's compile cache: measured against one CommonJS file, also cached, a server
// listens after 134 ms instead of 155 ms (an empty script: 27 ms), because what is lazy stays unread.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { build } from "esbuild";
import { inRepository } from "./lib/repository.mjs";

const dist = inRepository("dist");
/** A running server may still load chunks of the build it was started from. */
const KEEP_OLD_CHUNKS_MS = 24 * 60 * 60 * 1000;

/**
 * Stays outside the bundle and is imported from where it is installed: it looks for its program beside itself.
 * @type {import("esbuild").Plugin}
 */
const ripgrepInPlace = {
  name: "ripgrep-in-place",
  setup(bundle) {
    bundle.onResolve({ filter: /^@vscode\/ripgrep$/ }, async ({ path, kind, resolveDir, pluginData }) => {
      if (pluginData === "resolving") return undefined;
      const found = await bundle.resolve(path, { kind, resolveDir, pluginData: "resolving" });
      return { path: relative(dist, found.path), external: true, errors: found.errors };
    });
  },
};

const { version } = JSON.parse(readFileSync(inRepository("package.json"), "utf8"));
mkdirSync(dist, { recursive: true });
const { metafile } = await build({
  entryPoints: { main: inRepository("packages/cli/src/main.ts") },
  outdir: dist,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node22.13",
  define: { GENNAI_VERSION: JSON.stringify(version) },
  // CommonJS dependencies in the bundle ask for Node's own modules.
  banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  plugins: [ripgrepInPlace],
  legalComments: "none",
  metafile: true,
  logLevel: "error",
}).catch(() => process.exit(1)); // esbuild has written what is wrong.
writeFileSync(
  join(dist, "gennai.mjs"),
  `import { enableCompileCache } from "node:module";
enableCompileCache(${"`${import.meta.dirname}/.compile-cache`"});
await import("./main.mjs");
`,
);

const current = new Set(Object.keys(metafile.outputs).map((output) => relative(dist, inRepository(output))));
for (const name of readdirSync(dist)) {
  const path = join(dist, name);
  const old = statSync(path).mtimeMs < Date.now() - KEEP_OLD_CHUNKS_MS;
  if (name.endsWith(".mjs") && name !== "gennai.mjs" && !current.has(name) && old) rmSync(path);
}
