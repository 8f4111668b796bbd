// `npm run check | fix | build | generate | test:needs | corpus | effects | bench | pictures | eval | provenance | release…`: what a developer
// does, under the project's Node.
import { ensureBuilt } from "./lib/build.mjs";
import { runChecks } from "./lib/checks.mjs";
import { helpIfAsked } from "./lib/command-line.mjs";
import { ensureInstalled } from "./lib/install.mjs";
import { packagedNode, toolEnvironment } from "./lib/packaged-node.mjs";
import { inRepository, root } from "./lib/repository.mjs";
import { run } from "./lib/run.mjs";
import { ensureChromium, ensureEmoji } from "./lib/system-packages.mjs";
import { ensureTestNeeds } from "./lib/test-needs.mjs";

const [task = "", ...args] = process.argv.slice(2);

/** @type {Readonly<Record<string, () => Promise<boolean>>>} */
const tasks = {
  check: runChecks,
  /** All of them, also after one failed: each corrects what it can. */
  async fix() {
    const results = [
      await tool("buf", "format", "--write"),
      await generate(),
      await tool("oxlint", "--fix"),
      await tool("biome", "check", "--write"),
    ];
    return results.every(Boolean);
  },
  build: () => node("scripts/build.mjs"),
  generate,
  async "test-needs"() {
    await ensureTestNeeds();
    return true;
  },
  corpus: () => node("test/corpus/main.ts", ...args),
  "corpus-guard": () => node("test/corpus/guarded.ts", ...args),
  async effects() {
    // What is killed is the built program.
    await ensureBuilt();
    return node("test/effects/main.ts", ...args);
  },
  bench: () => node("test/bench/run-bench.ts", ...args),
  /** Anew, those of docs/pictures that show the page and VS Code. */
  async pictures() {
    await ensureBuilt();
    await ensureChromium();
    await ensureEmoji();
    process.env["GENNAI_PICTURES"] = inRepository("docs", "pictures");
    const tests = [
      "vscode/chat/journeys.test",
      "vscode/chat/more-windows.long.test",
      "vscode/install/models.long.test",
      "vscode/install/package.test",
      "vscode/panels/terminals.test",
      "browser/page.pictures",
      "terminal/terminal.pictures",
      "browser/panels/attempts.test",
      "browser/panels/answer-page.test",
      "browser/panels/second-person.test",
    ];
    const files = tests.map((name) => `test/e2e/${name}.ts`);
    return tool("vitest", "run", "--config", "test/e2e/vitest.config.ts", ...(args.length > 0 ? args : files));
  },
  eval: () => node("test/eval/main.ts", ...args),
  provenance: () => node("test/provenance/main.ts", ...args),
  async compare() {
    await ensureBuilt();
    return node("test/real-agents/compare.ts", ...args);
  },
  "guard-real": () => node("test/real-agents/main.ts", ...args),
  "acp-real": () => node("test/acpx/main.ts", ...args),
  messages: () => node("scripts/messages.mjs", ...args),
  pack: () => node("release/main.ts", "pack", ...args),
  // docs/release.md says what these take.
  release: () => node("release/main.ts", "make", ...args),
  async "release-gates"() {
    // The packed extension is tried against this checkout's own server.
    await ensureBuilt();
    return node("release/main.ts", "gates", ...args);
  },
  "release-version": () => node("release/main.ts", "version", ...args),
  "release-key": () => node("release/main.ts", "key", ...args),
  "release-rehearse": () => node("release/main.ts", "rehearse", ...args),
};

/** Of the tasks that are no program of their own. @type {Readonly<Record<string, string>>} */
const usages = {
  check:
    "npm run check   types, lint, format, unused code, generated files: a line each. Ends with 1 when one fails.\n",
  fix: "npm run fix   corrects what it can: format, imports, generated code, some lint.\n",
  build: "npm run build   builds the program and the pages into dist.\n",
  generate: "npm run generate   writes the protocol's code, the catalogue of models and docs/reference anew.\n",
  pictures: `npm run pictures [-- FILE …]   makes the pictures of docs/pictures that show the page, the terminal and VS Code anew; needs Chromium

FILE: tests that make some of them, for example test/e2e/browser/panels/attempts.test.ts; without one, all.
`,
};

const chosen = Object.hasOwn(tasks, task) ? tasks[task] : undefined;
if (chosen === undefined) {
  process.stderr.write(`Name one of: ${Object.keys(tasks).join(", ")}\n`);
  process.exitCode = 2;
} else {
  const usage = Object.hasOwn(usages, task) ? usages[task] : undefined;
  if (usage !== undefined) helpIfAsked(usage, args);
  try {
    await ensureInstalled();
    process.exitCode = (await chosen()) ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}

/** The protocol's code, the catalogue of models, and the reference of the documentation. */
async function generate() {
  return (
    (await tool("buf", "generate")) && (await node("scripts/catalogue.mjs")) && (await node("scripts/reference.mjs"))
  );
}

/** @param {string} program @param {readonly string[]} programArgs */
async function tool(program, ...programArgs) {
  const shell = process.platform === "win32";
  const { code } = await run(program, programArgs, { cwd: root, env: toolEnvironment(), output: "inherit", shell });
  return code === 0;
}

/** @param {readonly string[]} scriptAndArgs */
function node(...scriptAndArgs) {
  return tool(packagedNode(), ...scriptAndArgs);
}
