// Two bundles of one program: what its usual commands need, and the rest. Each module is in one of them, and runs when it is first
// asked for. Chunks, as esbuild splits them, came to 130 files for `gennai run`, and finding and linking these to a fifth of its start.
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { build, transform } from "esbuild";

/**
 * @typedef {object} TwoBundles
 * @property {string} root of the repository, absolute
 * @property {string} entry absolute path of the module that runs at once
 * @property {ReadonlySet<string>} usual modules that the program imports dynamically and that go with it, relative to the repository
 * @property {readonly import("esbuild").Plugin[]} plugins
 * @property {string} outDir
 */

/** @typedef {{ file: string, metafile: import("esbuild").Metafile }} Made */

/** @param {TwoBundles} options @returns {Promise<{ program: Made, rest: Made }>} */
export async function twoBundles(options) {
  const { root, entry } = options;
  /** Modules of the rest that the program asks for @type {Set<string>} */
  const asked = new Set();
  const first = await bundle(options, [apart(options, asked)], entrySource(root, new Map(), entry));
  const { inputs } = first.metafile;
  const toRest = entrySource(root, new Map([...asked].map((id) => [id, undefined])));
  const rest = await bundle(options, [fromProgram(options, inputs)], toRest);
  const shared = sharedNames(rest.outputFiles[0]?.text ?? "", inputs);
  const program = await bundle(
    options,
    [apart(options, new Set()), named(root, shared)],
    entrySource(root, shared, entry),
  );
  return { program: await written(options, "program", program), rest: await written(options, "rest", rest) };
}

/**
 * What the rest takes from the program, so that the program keeps no more of libraries than somebody uses.
 * @param {string} text of the rest
 * @param {import("esbuild").Metafile["inputs"]} inputs of the program
 * @returns {Map<string, readonly string[] | undefined>} exports by module; undefined: all of them
 */
function sharedNames(text, inputs) {
  // The text has megabytes: it is gone through a few times, not once for each module.
  /** How often each module is asked for, but for assignments to a variable @type {Map<string, number>} */
  const elsewhere = new Map();
  for (const [, id = ""] of text.matchAll(/\brequire\("((?:node_modules|packages)\/[^"]+)"\)/g)) {
    elsewhere.set(id, (elsewhere.get(id) ?? 0) + 1);
  }
  /** @type {Map<string, string>} */
  const moduleOf = new Map();
  const assignment = /^ *(?:var )?([\w$]+) = (?:__toESM\()?require\("((?:node_modules|packages)\/[^"]+)"\)\)?;$/gm;
  for (const [, variable = "", id = ""] of text.matchAll(assignment)) {
    const other = moduleOf.get(variable) ?? id;
    moduleOf.set(variable, id);
    if (other === id) elsewhere.set(id, (elsewhere.get(id) ?? 0) - 1);
    // Two variables of one name: what is read of which cannot be told.
    else elsewhere.set(other, Number.POSITIVE_INFINITY);
  }
  const isOfParts = (/** @type {string} */ id) =>
    elsewhere.get(id) === 0 && !id.startsWith("packages/") && inputs[id]?.format === "esm";
  /** @type {Map<string, Set<string>>} */
  const names = new Map([...elsewhere.keys()].filter(isOfParts).map((id) => [id, new Set()]));
  // What is declared before it is filled is no use of it, nor is what fills it.
  const uses = text.replaceAll(/^\s*var [\w$, ]+;$/gm, "").replaceAll(assignment, "");
  for (const [, variable = "", name = "*"] of uses.matchAll(/(?<![\w$.])([\w$]+)(?:\.([\w$]+))?/g)) {
    const id = moduleOf.get(variable);
    if (id !== undefined) names.get(id)?.add(name);
  }
  return new Map(
    [...elsewhere.keys()].map((id) => {
      const some = names.get(id);
      return [id, some === undefined || some.has("*") ? undefined : [...some].sort(byText)];
    }),
  );
}

/** @param {string} one @param {string} other */
function byText(one, other) {
  return one < other ? -1 : 1;
}

/**
 * Modules that export some names of another one.
 * @param {string} root @param {ReadonlyMap<string, readonly string[] | undefined>} modules
 * @returns {import("esbuild").Plugin}
 */
function named(root, modules) {
  return {
    name: "named",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^named:/ }, ({ path }) => ({ path: path.slice("named:".length), namespace: "named" }));
      onLoad({ filter: /.*/, namespace: "named" }, ({ path }) => ({
        contents: `export { ${(modules.get(path) ?? []).join(", ")} } from ${JSON.stringify(`./${path}`)};`,
        resolveDir: root,
      }));
    },
  };
}

/**
 * @param {TwoBundles} options
 * @param {readonly import("esbuild").Plugin[]} plugins
 * @param {string} source of a module that exports `modules`
 */
async function bundle({ root, plugins: others }, plugins, source) {
  return build({
    absWorkingDir: root,
    stdin: { contents: source, resolveDir: root, loader: "js", sourcefile: "bundle.js" },
    write: false,
    outdir: "/",
    bundle: true,
    format: "cjs",
    platform: "node",
    target,
    supported: { "dynamic-import": false },
    plugins: [...plugins, ...others],
    define: { "import.meta.dirname": "__dirname", "import.meta.url": "bundleUrl" },
    legalComments: "none",
    metafile: true,
    logLevel: "error",
  });
}

/**
 * @param {string} root
 * @param {ReadonlyMap<string, readonly string[] | undefined>} modules relative to it, with those of their exports that are asked for
 * @param {string} [entry]
 */
function entrySource(root, modules, entry) {
  const rows = [...modules]
    .sort(([one], [other]) => byText(one, other))
    .map(([id, names]) => {
      const asked = names === undefined ? join(root, id) : `named:${id}`;
      return `${JSON.stringify(id)}: () => require(${JSON.stringify(asked)}),`;
    });
  const runs = entry === undefined ? "" : `require(${JSON.stringify(entry)});\n`;
  return `exports.modules = {\n${rows.join("\n")}\n};\n${runs}`;
}

/**
 * What the program imports dynamically is left to the rest, unless it is usual.
 * @param {TwoBundles} options @param {Set<string>} asked takes what is left
 * @returns {import("esbuild").Plugin}
 */
function apart({ root, usual }, asked) {
  return {
    name: "apart",
    setup({ onResolve, resolve }) {
      onResolve({ filter: /^(?:\.|@gennai\/|#)/ }, async ({ path, kind, pluginData, importer, resolveDir }) => {
        if (kind !== "dynamic-import" || pluginData === seen) return undefined;
        const found = await resolve(path, { kind, importer, resolveDir, pluginData: seen });
        const id = relative(root, found.path);
        if (usual.has(id) || found.errors.length > 0) return found;
        asked.add(id);
        return { path: id, external: true };
      });
    },
  };
}

/**
 * What is in the program the rest takes from there, so that a module never runs twice.
 * @param {TwoBundles} options @param {import("esbuild").Metafile["inputs"]} inputs of the program
 * @returns {import("esbuild").Plugin}
 */
function fromProgram({ root }, inputs) {
  return {
    name: "from-program",
    setup({ onResolve, resolve }) {
      onResolve({ filter: /.*/ }, async ({ path, kind, pluginData, importer, resolveDir }) => {
        // What the bundle begins with is its own.
        if (pluginData === seen || path.startsWith("node:") || isAbsolute(path)) return undefined;
        const found = await resolve(path, { kind, importer, resolveDir, pluginData: seen });
        if (found.external || found.namespace !== "file" || found.errors.length > 0) return found;
        const id = relative(root, found.path);
        return id in inputs ? { path: id, external: true } : found;
      });
    },
  };
}

const target = "node22.13";
const seen = Symbol("resolved already");

/** @param {TwoBundles} options @param {string} name @param {Awaited<ReturnType<typeof bundle>>} made @returns {Promise<Made>} */
async function written({ outDir }, name, { outputFiles: [output], metafile }) {
  if (output === undefined) throw new Error(`The bundle ${name} came to nothing.`);
  const text = await withoutSpaces(output.text);
  // ASCII alone: V8 keeps it in half of the memory. What esbuild leaves are regular expressions and comments.
  const code = `(function (exports, require, [__filename, __dirname]) {
const bundleUrl = require("node:url").pathToFileURL(__filename).href;
${text}
})`.replaceAll(/[^\x00-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const digest = createHash("sha256").update(code).digest("hex").slice(0, 10);
  const file = `${name}-${digest}.js`;
  writeFileSync(join(outDir, file), code, "latin1");
  return { file, metafile };
}

/** @param {string} text */
async function withoutSpaces(text) {
  const made = await transform(text, { minifyWhitespace: true, minifySyntax: true, legalComments: "none", target });
  return made.code;
}
