// Bundles the command line: main.mjs, which runs program-….js and, when it is asked for, rest-….js.
//
//   import { buildCommandLine } from …     scripts/lib/program.mjs, which adds the pages
import { mkdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { build } from "esbuild";
import { lazyBuiltins } from "./lazy-builtins.mjs";
import { lazyDescriptors } from "./lazy-descriptors.mjs";
import { lazyStreams } from "./lazy-streams.mjs";
import { lightHeaders } from "./light-headers.mjs";
import { lightHttp } from "./light-http.mjs";
import { twoBundles } from "./two-bundles.mjs";

const root = join(import.meta.dirname, "..", "..", "..");
const source = (/** @type {readonly string[]} */ ...names) => join(root, "packages", ...names);

/** What `gennai run`, `gennai serve` and the hook of a guarded agent import when they run. */
const usual = new Set([
  "packages/cli/src/commands/guard/guard-hook-command.ts",
  "packages/cli/src/commands/guard/guarded-agents.ts",
  "packages/cli/src/commands/run/run-command.ts",
  "packages/cli/src/commands/run/run-options.ts",
  "packages/cli/src/commands/serve/serve-command.ts",
  "packages/models/src/gen/catalogue.ts",
  "packages/models/src/openai-compatible.ts",
  "packages/server/src/compose-server.ts",
  "packages/server/src/serve.ts",
]);

/**
 * The same sources give the same bytes, in whatever directory they lie. What stays outside is found as a package from where the
 * bundle lies: `@vscode/ripgrep`. Spaces and comments are left out, since they take time to read; names stay, for stacks.
 *
 * @param {{ outDir: string }} options
 * @returns {Promise<{ files: readonly string[], inputs: readonly string[], bytes: number }>} names in `outDir`; paths relative to the repository
 */
export async function buildCommandLine({ outDir }) {
  mkdirSync(outDir, { recursive: true });
  const { program, rest } = await twoBundles({
    root,
    entry: source("cli", "src", "main.ts"),
    usual,
    plugins: [
      workerModule,
      lazyBuiltins,
      lazyDescriptors,
      lazyStreams,
      lightHeaders,
      englishAlone,
      nativeDigest,
      partsOfTui,
    ],
    outDir,
  });
  const loader = await build({
    ...asModules(outDir),
    entryPoints: {
      main: source("cli", "src", "program-loader.ts"),
      [relayName]: source("cli", "src", "guard-relay.ts"),
    },
    plugins: [besideLoader],
    define: { PROGRAM_FILE: JSON.stringify(program.file), REST_FILE: JSON.stringify(rest.file) },
  });
  const worker = await build({
    ...asModules(outDir),
    entryPoints: { [workerName]: source("machine", "src", "web", "html-markdown.ts") },
    banner: commonJsBanner,
  });
  const files = [program.file, rest.file, "main.mjs", `${relayName}.mjs`, `${workerName}.mjs`];
  const metafiles = [program, rest, loader, worker].map(({ metafile }) => metafile);
  return {
    files,
    inputs: [...new Set(metafiles.flatMap(({ inputs }) => Object.keys(inputs)))].filter(
      (path) => path !== "bundle.js" && !/^[a-z-]+:/.test(path),
    ),
    bytes: files.reduce((sum, file) => sum + statSync(join(outDir, file)).size, 0),
  };
}

/** What the hook of a guarded agent runs in place of the bundles. */
const relayName = "guard-relay";
/** @type {import("esbuild").Plugin} */
const besideLoader = {
  name: "beside-loader",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/guard-relay\.ts$/ }, () => ({ path: `./${relayName}.mjs`, external: true }));
  },
};

/** The module that a worker imports lies beside the bundle, as a file of its own. */
const workerName = "html-markdown";
/** @type {import("esbuild").Plugin} */
const workerModule = {
  name: "worker-module",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]web[\\/]html-markdown\.ts$/ }, () => ({
      contents: `export const htmlMarkdownModule = new URL("./${workerName}.mjs", import.meta.url).href;`,
    }));
  },
};

/** The protocol runs in browsers too and hashes in JavaScript; Node has it built in. @type {import("esbuild").Plugin} */
const nativeDigest = {
  name: "native-digest",
  setup({ onResolve }) {
    onResolve({ filter: /^@noble\/hashes\/sha2\.js$/ }, ({ importer }) =>
      /[\\/]protocol[\\/]src[\\/]digest\.ts$/.test(importer)
        ? { path: source("cli", "src", "native-sha256.ts") }
        : undefined,
    );
  },
};

/** Of the library for terminals, what somebody uses: its modules do nothing when they are loaded. @type {import("esbuild").Plugin} */
const partsOfTui = {
  name: "parts-of-tui",
  setup({ onResolve }) {
    const index = realpathSync(source("cli", "node_modules", "@earendil-works", "pi-tui", "dist", "index.js"));
    onResolve({ filter: /^@earendil-works\/pi-tui$/ }, () => ({ path: index, sideEffects: false }));
    onResolve({ filter: /^\./ }, ({ path, resolveDir }) =>
      `${resolveDir}${sep}`.startsWith(`${dirname(index)}${sep}`)
        ? { path: join(resolveDir, path), sideEffects: false }
        : undefined,
    );
  },
};

/** What zod says of a wrong value, it can say in 50 languages, of which the program speaks one. @type {import("esbuild").Plugin} */
const englishAlone = {
  name: "english-alone",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    }));
  },
};

/**
 * Programs of tests, as modules that share their chunks.
 *
 * @param {Readonly<Record<string, string>>} entryPoints absolute paths, by the names of the bundles without `.mjs`
 * @param {{ outDir: string }} options
 */
export async function bundlePrograms(entryPoints, { outDir }) {
  return build({
    ...asModules(outDir),
    minifyWhitespace: false,
    minifySyntax: false,
    entryPoints,
    banner: commonJsBanner,
    splitting: true,
    plugins: [lightHttp],
  });
}

/** CommonJS dependencies in a bundle ask for Node's own modules. */
const commonJsBanner = {
  js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
};

/** @param {string} outDir */
function asModules(outDir) {
  return /** @satisfies {import("esbuild").BuildOptions} */ ({
    absWorkingDir: root,
    outdir: outDir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node22.13",
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: "none",
    metafile: true,
    logLevel: "error",
  });
}
