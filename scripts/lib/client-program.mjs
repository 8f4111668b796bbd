// The client for programs as it is shipped: two modules that share what they have in common, and their declarations.
import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { build } from "esbuild";
import { declarationsOf } from "./declarations.mjs";
import { root } from "./repository.mjs";

/** Sources of what is imported, by the names of their modules. */
const entries = { index: "client/src/agent/gennai.ts", node: "client/src/node/gennai.ts" };

/**
 * The same sources give the same bytes.
 *
 * @param {{ outDir: string }} options
 * @returns {Promise<{ readonly directory: string, readonly inputs: readonly string[] }>} paths relative to the repository of all that went in
 */
export async function buildClient({ outDir }) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(
      Object.entries(entries).map(([name, file]) => [name, join(root, "packages", file)]),
    ),
    outdir: outDir,
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2022",
    external: ["node:*"],
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: "none",
    metafile: true,
    logLevel: "error",
  });
  for (const [name, text] of Object.entries(clientDeclarations())) writeFileSync(join(outDir, `${name}.d.ts`), text);
  return {
    directory: outDir,
    inputs: Object.keys(metafile.inputs).map((path) => relative(root, join(root, path))),
  };
}

/** What each module exports; of the second, what the first has not. */
export function clientExports() {
  const [browser = [], node = []] = declarationsOf(Object.values(entries));
  const known = new Map(browser.map(({ name, text }) => [name, text]));
  return { index: browser, node: node.filter(({ name, text }) => known.get(name) !== text) };
}

function clientDeclarations() {
  const { index, node } = clientExports();
  const used = index.filter(({ name }) => node.some(({ text }) => new RegExp(`\\b${name}\\b`).test(text)));
  const own = new Set(node.map(({ name }) => name));
  const names = used.map(({ name }) => name).filter((name) => !own.has(name));
  return {
    index: written(index),
    node: `import type { ${names.join(", ")} } from "./index.js";\nexport * from "./index.js";\n\n${written(node)}`,
  };
}

/** @param {readonly import("./declarations.mjs").Declaration[]} declarations */
function written(declarations) {
  const texts = declarations.map(({ isExported, comment, text }) => {
    const lines = comment.split("\n").map((line) => ` * ${line}`.trimEnd());
    const documentation = comment === "" ? "" : `/**\n${lines.join("\n")}\n */\n`;
    return `${documentation}${isExported ? "export " : ""}${text}\n`;
  });
  // Without it, all of a declaration file is exported.
  return `${texts.join("\n")}\nexport {};\n`;
}
