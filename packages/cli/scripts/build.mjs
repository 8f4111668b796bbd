// Bundles the command line into ES modules: main.mjs and chunks that load when they are needed.
//
//   import { buildCommandLine } from …     scripts/build.mjs for `npm start`, release/ for the package
import { join, relative } from "node:path";
import { rolldown } from "rolldown";
import { chunkNames } from "./chunk-names.mjs";
import { lightHttp } from "./light-http.mjs";

const root = join(import.meta.dirname, "..", "..", "..");

/**
 * The same sources give the same bytes, in whatever directory they lie. What stays outside is found as a package from where the
 * bundle lies: `@vscode/ripgrep`.
 *
 * @param {{ outDir: string, production?: boolean }} options `production` leaves out spaces and comments; names stay, for stacks
 * @returns {Promise<{ inputs: readonly string[], outputs: Readonly<Record<string, number>> }>} paths, relative to the
 *   repository, of all that went in; bytes by name in `outDir`
 */
export async function buildCommandLine({ outDir, production = false }) {
  const chunks = chunkNames(root);
  /** @type {readonly string[]} */
  let read = [];
  await using bundle = await rolldown({
    input: { main: join(root, "packages", "cli", "src", "main.ts") },
    cwd: root,
    platform: "node",
    external: ["@vscode/ripgrep"],
    transform: { target: "node22.13" },
    plugins: [
      lightHttp,
      {
        name: "what-went-in",
        buildEnd() {
          read = [...this.getModuleIds()];
          chunks.find((id) => this.getModuleInfo(id)?.importedIds ?? []);
        },
      },
    ],
    logLevel: "silent",
  });
  const { output } = await bundle.write({
    dir: outDir,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
    minify: production && { compress: true, mangle: false, codegen: true },
    comments: { legal: false },
    codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: chunks.nameOf }] },
  });
  return {
    inputs: read.filter((id) => id.startsWith(root)).map((id) => relative(root, id)),
    outputs: Object.fromEntries(
      output.map((one) => [one.fileName, Buffer.byteLength(one.type === "chunk" ? one.code : one.source)]),
    ),
  };
}
