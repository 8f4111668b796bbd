// Bundles the extension into dist/: extension.cjs, which only registers, app.cjs with all the rest, extension.web.cjs with all
// of it for a browser, the web UI in repl/, and in server/ the program that it brings, with its pages.
//
//   node scripts/build.mjs                 for development, with source maps
//   node scripts/build.mjs --watch         builds again whenever a source changes
//   node scripts/build.mjs --production    small, without source maps
//
// CommonJS, because VS Code loads extensions so; esbuild splits only ES modules, hence two bundles with one seam: the dynamic
// import of app.ts in extension.ts becomes a require of app.cjs.
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { context } from "esbuild";
import { buildProgram } from "../../../scripts/lib/program.mjs";
import { buildRepl } from "../../repl/scripts/build.mjs";
import { webOptions } from "./web-bundle.mjs";

const root = join(import.meta.dirname, "..");

/**
 * @typedef {object} Options
 * @property {boolean} [production]
 * @property {boolean} [watch]
 * @property {string} [outDir]
 * @property {import("../../../scripts/lib/program.mjs").Program} [program] to bring; otherwise it is built
 */

/**
 * @param {Options} options
 * @returns {Promise<{ bytes: Record<string, number>, inputs: readonly string[] }>} bytes by path relative to the package;
 *   absolute paths of all that went in
 */
export async function buildExtension({
  production = false,
  watch = false,
  outDir = join(root, "dist"),
  program: given,
} = {}) {
  rmSync(outDir, { recursive: true, force: true });
  mkdirSync(outDir, { recursive: true });
  const bundles = await Promise.all(
    [
      { name: "extension", plugins: [appIsItsOwnBundle] },
      { name: "app", plugins: [] },
      { name: "web", ...webOptions(root) },
    ].map(({ name, ...different }) =>
      context({
        // Where aliases are looked for, and what the metafile's paths are relative to.
        absWorkingDir: root,
        entryPoints: [{ in: join(root, "src", `${name}.ts`), out: name }],
        outdir: outDir,
        outExtension: { ".js": ".cjs" },
        bundle: true,
        format: "cjs",
        platform: "node",
        target: "node22",
        external: ["vscode"],
        // Libraries that look for a browser ask for it; VS Code logs that as a fault of the extension.
        define: { navigator: "undefined" },
        sourcemap: production ? false : "linked",
        minify: production,
        keepNames: production,
        legalComments: "none",
        metafile: true,
        logLevel: watch ? "info" : "error",
        ...different,
      }),
    ),
  );
  /** @type {Record<string, number>} */
  const bytes = {};
  const inputs = [];
  for (const bundle of bundles) {
    const { metafile } = await bundle.rebuild();
    inputs.push(...Object.keys(metafile.inputs).map((path) => join(root, path)));
    for (const [file, output] of Object.entries(metafile.outputs)) bytes[file] = output.bytes;
  }
  const serverDir = join(outDir, "server");
  const program = given ?? (await buildProgram({ outDir: serverDir }));
  if (given !== undefined) cpSync(given.directory, serverDir, { recursive: true });
  inputs.push(...program.inputs.map((path) => join(root, "..", "..", path)));
  bytes[relative(root, serverDir)] = program.bytes;
  const replDir = join(outDir, "repl");
  // The program serves the same web UI; only while someone develops it, it is another.
  if (production && !watch) cpSync(join(serverDir, "page"), replDir, { recursive: true });
  else {
    const repl = await buildRepl({ outDir: replDir, minify: production, watch });
    for (const [file, size] of Object.entries(repl.bytes)) bytes[relative(root, join(process.cwd(), file))] = size;
  }
  for (const bundle of bundles) await (watch ? bundle.watch() : bundle.dispose());
  return { bytes, inputs };
}

/** @type {import("esbuild").Plugin} */
const appIsItsOwnBundle = {
  name: "app-is-its-own-bundle",
  setup(build) {
    build.onResolve({ filter: /^\.\/app\.ts$/ }, () => ({ path: "./app.cjs", external: true }));
  },
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const watch = process.argv.includes("--watch");
  const { bytes } = await buildExtension({ production: process.argv.includes("--production"), watch });
  for (const [file, size] of Object.entries(bytes)) {
    if (!file.endsWith(".map")) console.log(`${file}  ${Math.round(size / 1024)} KB`);
  }
  // What a background task of VS Code waits for.
  if (watch) console.log("[watch] ready");
}
