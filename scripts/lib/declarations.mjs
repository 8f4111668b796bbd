// What a module of ours exports, as declarations that stand by themselves.
import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SyntaxKind } from "typescript/unstable/ast";
import { API, NodeBuilderFlags, SymbolFlags } from "typescript/unstable/sync";
import { toolEnvironment } from "./packaged-node.mjs";
import { inRepository } from "./repository.mjs";

/**
 * @typedef {object} Declaration
 * @property {string} name
 * @property {boolean} isExported else it is one that others refer to
 * @property {boolean} isValue a class or a function
 * @property {string} comment its documentation; empty: none
 * @property {string} text without `export` and its comment, with those of its members
 */

/**
 * The declarations that each of some modules exports, with all that these refer to, in the order of the exports. What is marked
 * `@internal` is left out. Throws when the sources have errors.
 *
 * @param {readonly string[]} entries paths of TypeScript files relative to `packages`
 * @returns {readonly (readonly Declaration[])[]}
 */
export function declarationsOf(entries) {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), "gennai-declarations-")));
  try {
    emit(entries, scratch);
    const roots = entries.map((entry) => join(scratch, entry.replace(/\.ts$/, ".d.ts")));
    const config = join(scratch, "tsconfig.json");
    writeConfig(config, {
      compilerOptions: { ...options, noEmit: true, paths: { "@gennai/protocol/*": ["./protocol/src/*.d.ts"] } },
      files: roots,
    });
    const api = new API({ cwd: scratch });
    try {
      const [project] = api.updateSnapshot({ openProject: config }).getProjects();
      if (project === undefined) throw new Error("The compiler opened no project.");
      return roots.map((root) => exportsOf(project, root, scratch));
    } finally {
      api.close();
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

const options = {
  composite: false,
  declaration: true,
  emitDeclarationOnly: true,
  stripInternal: true,
  types: ["node"],
  typeRoots: [inRepository("node_modules", "@types")],
  lib: ["ES2024", "ESNext.Disposable", "DOM"],
};

/** @param {readonly string[]} entries @param {string} outDir */
function emit(entries, outDir) {
  const config = join(outDir, "emit.json");
  const rootDir = inRepository("packages");
  writeConfig(config, {
    // Found as a package, it would be one of others, whose declarations are not made.
    compilerOptions: {
      ...options,
      rootDir,
      outDir,
      paths: { "@gennai/protocol/*": [join(rootDir, "protocol", "src", "*.ts")] },
    },
    files: entries.map((entry) => join(rootDir, entry)),
  });
  const shell = process.platform === "win32";
  const { status, stdout } = spawnSync("tsc", ["-p", config], { env: toolEnvironment(), encoding: "utf8", shell });
  if (status !== 0) throw new Error(`The declarations cannot be made.\n${stdout}`);
}

/** @param {string} file @param {object} config */
function writeConfig(file, config) {
  writeFileSync(file, JSON.stringify({ extends: inRepository("tsconfig.base.json"), ...config }));
}

/**
 * @param {import("typescript/unstable/sync").Project} project
 * @param {string} root
 * @param {string} within directory of what is declared here; all else is the language's
 * @returns {readonly Declaration[]}
 */
function exportsOf({ checker, program }, root, within) {
  const module = program.getSourceFile(root);
  const moduleSymbol = module && checker.getSymbolAtLocation(module);
  if (moduleSymbol === undefined) throw new Error(`${root} is no module.`);
  const exported = checker.getExportsOfModule(moduleSymbol).map(target);
  /** @type {Map<string, { readonly id: number, readonly declaration: Declaration }>} */
  const found = new Map();
  const waiting = [...exported];
  for (let symbol = waiting.shift(); symbol !== undefined; symbol = waiting.shift()) {
    const known = found.get(symbol.name);
    if (known?.id === symbol.id) continue;
    if (known !== undefined) throw new Error(`Two declarations are called ${symbol.name}: rename one.`);
    const node = declarationIn(symbol, within);
    if (node === undefined) continue;
    found.set(symbol.name, { id: symbol.id, declaration: declared(symbol, node) });
    if (!refersToValues(node)) for (const each of identifiersIn(node)) waiting.push(...referred(each));
  }
  return [...found.values()].map(({ declaration }) => declaration);

  /** @param {import("typescript/unstable/sync").Symbol} symbol */
  function target(symbol) {
    return (symbol.flags & SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
  }

  /** @param {import("typescript/unstable/ast").Node} identifier */
  function referred(identifier) {
    const symbol = checker.getSymbolAtLocation(identifier);
    return symbol === undefined ? [] : [target(symbol)];
  }

  /** @param {import("typescript/unstable/sync").Symbol} symbol @param {import("typescript/unstable/ast").Node} node @returns {Declaration} */
  function declared(symbol, node) {
    const source = node.getSourceFile().text;
    const isAlias = node.kind === SyntaxKind.TypeAliasDeclaration;
    const text =
      isAlias && refersToValues(node)
        ? `type ${symbol.name} = ${checker.typeToString(checker.getDeclaredTypeOfSymbol(symbol), undefined, expanded)};`
        : source.slice(node.getStart(), node.end).replace(/^export (default )?/, "");
    return {
      name: symbol.name,
      isExported: exported.some(({ id }) => id === symbol.id),
      isValue: node.kind === SyntaxKind.ClassDeclaration || node.kind === SyntaxKind.FunctionDeclaration,
      comment: checker.getDocumentationCommentOfSymbol(symbol),
      text,
    };
  }
}

const expanded = NodeBuilderFlags.NoTruncation | NodeBuilderFlags.InTypeAlias;

/**
 * The statement that declares it; undefined for what is declared elsewhere, or within another one.
 *
 * @param {import("typescript/unstable/sync").Symbol} symbol @param {string} within
 */
function declarationIn(symbol, within) {
  const [handle] = symbol.declarations;
  const node = handle?.resolve();
  if (node === undefined || !node.getSourceFile().fileName.startsWith(within)) return undefined;
  return node.parent?.kind === SyntaxKind.SourceFile ? node : undefined;
}

/** A type that is made of a value, such as a list of words. @param {import("typescript/unstable/ast").Node} node */
function refersToValues(node) {
  return (
    node.kind === SyntaxKind.TypeAliasDeclaration && descendants(node).some(({ kind }) => kind === SyntaxKind.TypeQuery)
  );
}

/** @param {import("typescript/unstable/ast").Node} node */
function identifiersIn(node) {
  return descendants(node).filter(({ kind }) => kind === SyntaxKind.Identifier);
}

/** @param {import("typescript/unstable/ast").Node} node */
function descendants(node) {
  /** @type {import("typescript/unstable/ast").Node[]} */
  const all = [];
  /** @param {import("typescript/unstable/ast").Node} each */
  const visit = (each) => {
    all.push(each);
    each.forEachChild(visit);
  };
  node.forEachChild(visit);
  return all;
}
