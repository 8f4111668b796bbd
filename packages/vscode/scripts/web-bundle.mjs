// The extension for a browser: one bundle for a web worker, without anything of Node. What touches the machine has a
// counterpart in src/web, under the same name.
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";

/**
 * What is different from the bundles for Node.
 * @param {string} root of the package
 */
export function webOptions(root) {
  return {
    entryPoints: [{ in: join(root, "src", "extension.ts"), out: "extension.web" }],
    platform: /** @type {const} */ ("browser"),
    target: "es2024",
    // By its file: an alias is looked for from where the build was started.
    alias: { "node:path": createRequire(import.meta.url).resolve("path-browserify") },
    define: {},
    plugins: [counterparts(join(root, "src", "web"))],
  };
}

/**
 * @param {string} directory
 * @returns {import("esbuild").Plugin}
 */
function counterparts(directory) {
  const names = new Set(readdirSync(directory));
  return {
    name: "counterparts",
    setup(build) {
      build.onResolve({ filter: /^\.{1,2}\// }, ({ path, importer, kind }) => {
        const name = basename(path);
        if (kind === "entry-point" || !names.has(name)) return undefined;
        // A counterpart names its original for types alone, which no bundle holds.
        return importer.startsWith(directory) ? undefined : { path: join(directory, name) };
      });
    },
  };
}
