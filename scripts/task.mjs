// `npm run check | fix | build | generate | corpus | bench`: what a developer does, under the project's Node.
import { runChecks } from "./lib/checks.mjs";
import { ensureInstalled } from "./lib/install.mjs";
import { packagedNode, toolEnvironment } from "./lib/packaged-node.mjs";
import { root } from "./lib/repository.mjs";
import { run } from "./lib/run.mjs";

const [task = "", ...args] = process.argv.slice(2);

/** @type {Readonly<Record<string, () => Promise<boolean>>>} */
const tasks = {
  check: runChecks,
  /** All of them, also after one failed: each mends what it can. */
  async fix() {
    const results = [
      await tool("buf", "format", "--write"),
      await tool("buf", "generate"),
      await tool("oxlint", "--fix"),
      await tool("biome", "check", "--write"),
    ];
    return results.every(Boolean);
  },
  build: () => node("scripts/build.mjs"),
  generate: () => tool("buf", "generate"),
  corpus: () => node("test/corpus/main.ts", ...args),
  /** The extension in the real VS Code; the first time prepares it, which takes minutes. */
  "test-vscode": () => {
    process.env.GENNAI_TEST_VSCODE = "1";
    return node(
      "node_modules/vitest/vitest.mjs",
      "run",
      "--config",
      "test/e2e/vitest.config.ts",
      "--project",
      "vscode",
      ...args,
    );
  },
  bench: () => node("test/bench/run-bench.ts", ...args),
};

const chosen = Object.hasOwn(tasks, task) ? tasks[task] : undefined;
if (chosen === undefined) {
  process.stderr.write(`Name one of: ${Object.keys(tasks).join(", ")}\n`);
  process.exitCode = 2;
} else {
  try {
    await ensureInstalled();
    process.exitCode = (await chosen()) ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
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
