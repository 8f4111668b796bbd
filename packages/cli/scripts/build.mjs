// Bundles the command line into ES modules with splitting: main.mjs and chunks that load when they are needed.
//
//   import { buildCommandLine } from …     scripts/build.mjs for `npm start`, release/ for the package
import { join } from "node:path";
import { build } from "esbuild";
import { lightHttp } from "./light-http.mjs";

const root = join(import.meta.dirname, "..", "..", "..");

/**
 * The same sources give the same bytes, in whatever directory they lie. What stays outside is found as a package from where the
 * bundle lies: `@vscode/ripgrep`.
 *
 * @param {{ outDir: string, production?: boolean }} options `production` leaves out spaces and comments; names stay, for stacks
 * @returns {Promise<{ metafile: import("esbuild").Metafile }>} paths in it are relative to the repository
 */
export async function buildCommandLine({ outDir, production = false }) {
  return bundlePrograms({ main: join(root, "packages", "cli", "src", "main.ts") }, { outDir, production });
}

/**
 * Programs that share their chunks, as `buildCommandLine` makes one.
 *
 * @param {Readonly<Record<string, string>>} entryPoints absolute paths, by the names of the bundles without `.mjs`
 * @param {{ outDir: string, production?: boolean }} options
 */
export async function bundlePrograms(entryPoints, { outDir, production = false }) {
  return build({
    absWorkingDir: root,
    entryPoints,
    outdir: outDir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node22.13",
    plugins: [lightHttp],
    // CommonJS dependencies in the bundle ask for Node's own modules.
    banner: {
      js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
    },
    minifyWhitespace: production,
    minifySyntax: production,
    legalComments: "none",
    metafile: true,
    logLevel: "error",
  });
}
