// Bundles the web UI into repl.js, repl.css and scripts that repl.js loads when they are wanted (the code editor, each
// language), for the page that the server serves and for the webview of the extension.
//
//   node packages/repl/scripts/build.mjs            writes packages/repl/dist
//   import { buildRepl } from …                     for those who package it
import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { context } from "esbuild";

const source = join(import.meta.dirname, "..", "src");

/**
 * Every style sheet under `src` goes into repl.css, those of `look` first; every icon is text in repl.js. What
 * is imported with `import()` goes into scripts beside it, so that none of it is loaded with the page.
 *
 * @param {{ outDir?: string, watch?: boolean, minify?: boolean }} options `watch` builds again whenever a source changes
 * @returns {Promise<{ files: readonly string[], bytes: Record<string, number>, metafile: import("esbuild").Metafile, dispose(): Promise<void> }>}
 */
export async function buildRepl({
  outDir = join(import.meta.dirname, "..", "dist"),
  watch = false,
  minify = true,
} = {}) {
  const bundle = await context({
    entryPoints: [
      { in: join(source, "main.tsx"), out: "repl" },
      { in: "all-styles", out: "repl" },
    ],
    outdir: outDir,
    bundle: true,
    splitting: true,
    chunkNames: "part-[name]-[hash]",
    format: "esm",
    platform: "browser",
    target: ["es2023", "chrome120", "firefox121", "safari17.4"],
    jsx: "automatic",
    jsxImportSource: "preact",
    loader: { ".svg": "text" },
    minify,
    sourcemap: false,
    legalComments: "none",
    metafile: true,
    logLevel: "error",
    plugins: [allStyles],
  });
  const { metafile } = await bundle.rebuild();
  if (watch) await bundle.watch();
  else await bundle.dispose();
  const bytes = Object.fromEntries(Object.entries(metafile.outputs).map(([file, output]) => [file, output.bytes]));
  return { files: Object.keys(bytes), bytes, metafile, dispose: () => bundle.dispose() };
}

/** @type {import("esbuild").Plugin} */
const allStyles = {
  name: "all-styles",
  setup(build) {
    build.onResolve({ filter: /^all-styles$/ }, () => ({ path: "all-styles", namespace: "all-styles" }));
    build.onLoad({ filter: /.*/, namespace: "all-styles" }, () => {
      const sheets = readdirSync(source, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".css"))
        .map((name) => `./${name.replaceAll("\\", "/")}`)
        .sort(
          (one, other) =>
            Number(other.startsWith("./look/")) - Number(one.startsWith("./look/")) || (one < other ? -1 : 1),
        );
      return {
        contents: sheets.map((sheet) => `@import ${JSON.stringify(sheet)};`).join("\n"),
        loader: "css",
        resolveDir: source,
        watchFiles: sheets.map((sheet) => join(source, sheet)),
        watchDirs: [source],
      };
    });
  },
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { bytes } = await buildRepl();
  for (const [file, size] of Object.entries(bytes)) {
    process.stdout.write(`${relative(process.cwd(), file)}  ${Math.round(size / 1024)} KB\n`);
  }
}
