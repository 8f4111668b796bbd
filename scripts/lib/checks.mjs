import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packagedNode, toolEnvironment } from "./packaged-node.mjs";
import { root } from "./repository.mjs";
import { run } from "./run.mjs";

/**
 * @typedef {object} Check
 * @property {string} name
 * @property {() => Promise<import("./run.mjs").Finished>} run
 */

/** The slowest come first, so that none of them is left over at the end. @type {readonly Check[]} */
const checks = [
  {
    name: "types",
    run: () =>
      inOrder([
        ["tsc", "-b"],
        ["tsc", "-p", "scripts"],
        ["tsc", "-p", "examples"],
      ]),
  },
  { name: "import direction", run: () => tool("depcruise", "--config", ".dependency-cruiser.cjs", "packages") },
  { name: "unused", run: () => tool("knip", "--no-progress", "--no-config-hints") },
  { name: "lint", run: () => tool("oxlint", "--format=unix", "--deny-warnings", "--report-unused-disable-directives") },
  { name: "generated code", run: checkGenerated },
  { name: "catalogue of models", run: () => tool(packagedNode(), "scripts/catalogue.mjs", "--check") },
  { name: "reference", run: () => tool(packagedNode(), "scripts/reference.mjs", "--check") },
  { name: "words of messages", run: () => tool(packagedNode(), "scripts/messages.mjs", "--check") },
  { name: "protocol breaks nobody", run: () => tool("buf", "breaking", "--against", "proto/baseline.binpb") },
  { name: "protocol lint", run: () => tool("buf", "lint") },
  { name: "protocol format", run: () => tool("buf", "format", "--diff", "--exit-code") },
  { name: "format", run: () => tool("biome", "check", "--error-on-warnings", "--reporter=summary") },
];

const AT_ONCE = 2;

/** Runs all checks, a line each as they end. @returns {Promise<boolean>} whether all passed */
export async function runChecks() {
  const waiting = [...checks];
  let passed = true;
  const work = async () => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const began = performance.now();
      const { code, output } = await check.run();
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      passed &&= code === 0;
      const details = code === 0 ? "" : `${output.trimEnd()}\n`;
      process.stdout.write(`${code === 0 ? "ok  " : "FAIL"} ${check.name} (${seconds} s)\n${details}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return passed;
}

/** @param {string} program of the project's tools @param {readonly string[]} args */
function tool(program, ...args) {
  return run(program, args, {
    cwd: root,
    env: toolEnvironment(),
    output: "capture",
    shell: process.platform === "win32",
  });
}

/** @param {readonly (readonly [string, ...string[]])[]} commands */
async function inOrder(commands) {
  let output = "";
  for (const [program, ...args] of commands) {
    const finished = await tool(program, ...args);
    output += finished.output;
    if (finished.code !== 0) return { code: finished.code, output };
  }
  return { code: 0, output };
}

/** What buf generates from the protocol is what is committed. */
async function checkGenerated() {
  const directory = mkdtempSync(join(tmpdir(), "gennai-generated-"));
  try {
    const generated = "packages/protocol/src/gen";
    const { code, output } = await inOrder([
      ["buf", "generate", "--output", directory],
      ["git", "diff", "--no-index", "--stat", generated, join(directory, generated)],
    ]);
    return { code, output: code === 0 ? output : `${output}Run: npm run generate\n` };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
