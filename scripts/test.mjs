// `npm test -- --help` says what it takes.
import { readFileSync, rmSync } from "node:fs";
import { relative } from "node:path";
import { ensureBuilt } from "./lib/build.mjs";
import { ensureClaimedNodes } from "./lib/claimed-nodes.mjs";
import { helpIfAsked } from "./lib/command-line.mjs";
import { withFilesInMemory } from "./lib/files-in-memory.mjs";
import { ensureInstalled } from "./lib/install.mjs";
import { packagedNode, toolEnvironment } from "./lib/packaged-node.mjs";
import { inRepository, root } from "./lib/repository.mjs";
import { run } from "./lib/run.mjs";
import { ensureBubblewrap, ensureCargo, ensureChromium, ensureNatsServer } from "./lib/system-packages.mjs";

helpIfAsked(`npm test                     all tests but the long ones (*.long.test.ts); of those that repeat under each further
                             version of Node that the README names, the built program's
npm test -- --all            the long ones and all repeated ones, too: before a release
npm test -- ARGS             those that ARGS choose, long or not; ARGS are vitest's: parts of paths, -t NAME, …
npm test -- --nodes [ARGS]   only those that repeat under each further version of Node

Ends with one line, "N passed, N failed"; with CI=true, a test that is skipped has failed.
`);

const { passed, failed } = await testAll().catch((error) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return { passed: 0, failed: 1 };
});
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

async function testAll() {
  const { onlyNodes, isShort, args } = asked(process.argv.slice(2));
  const long = isShort ? exclude("**/*.long.test.ts") : [];
  await ensureInstalled();
  await ensureBuilt();
  /** @type {Counts[]} */
  const runs = [];
  if (!onlyNodes) {
    const leftOut = [...(await ensureBubblewrap()), ...(await ensureNatsServer()), ...(await ensureCargo())];
    runs.push(
      await vitest("vitest.config.ts", [...leftOut.flatMap(exclude), ...long, ...args], { leftOut: leftOut.length }),
    );
    // A browser and a whole VS Code want the machine for themselves.
    const alsoLeftOut = await ensureChromium();
    const browserArgs = [...alsoLeftOut.flatMap(exclude), ...long, ...args];
    runs.push(await vitest("test/e2e/vitest.config.ts", browserArgs, { leftOut: alsoLeftOut.length }));
  }
  if (onlyNodes || args.length === 0) {
    // All at once: each is few files, and waits much.
    const nodes = (await ensureClaimedNodes()).map(async ({ version, program }) => {
      if (program === undefined) return { passed: 0, failed: 0, skipped: 1, failures: [] };
      const repeated = isShort ? ["test/node-versions/built-program.test.ts"] : args;
      return vitest("test/node-versions/vitest.config.ts", repeated, { program, name: `Node ${version}` });
    });
    runs.push(...(await Promise.all(nodes)));
  }
  /** @param {"passed" | "failed" | "skipped"} what */
  const sum = (what) => runs.reduce((total, counts) => total + counts[what], 0);
  const [passed, failed, skipped] = [sum("passed"), sum("failed"), sum("skipped")];
  // Said at the end, where anyone who reads a log looks first.
  for (const { failures } of runs) for (const failure of failures) process.stdout.write(`\nFAILED ${failure}\n`);
  if (passed + failed + skipped === 0) throw new Error("There are no such tests.");
  if (skipped > 0) process.stdout.write(`${skipped} skipped\n`);
  return { passed, failed: failed + (process.env.CI === "true" ? skipped : 0) };
}

/** @param {readonly string[]} given */
function asked(given) {
  const [first] = given;
  const args = first === "--nodes" || first === "--all" ? given.slice(1) : given;
  return { onlyNodes: first === "--nodes", isShort: given.length === 0, args };
}

/** @param {string} glob */
function exclude(glob) {
  return ["--exclude", glob];
}

/**
 * Runs the tests of one configuration. What is left out counts as skipped, a glob as one.
 * @param {string} config @param {readonly string[]} args of vitest
 * @param {{ leftOut?: number, program?: string, name?: string }} options `program`: the Node to run it; with a `name` its output
 * comes at its end, below that
 * @returns {Promise<Counts>}
 */
async function vitest(config, args, { leftOut = 0, program = packagedNode(), name }) {
  const report = inRepository(".cache", `vitest${name === undefined ? "" : ` ${name}`}.json`);
  rmSync(report, { force: true });
  const allArgs = [
    "run",
    ...["--config", inRepository(config)],
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
    // ARGS may name tests of the other configuration only.
    "--passWithNoTests",
    ...args,
  ];
  const runner = inRepository("node_modules", "vitest", "vitest.mjs");
  const [command, ...commandArgs] = await withFilesInMemory([program, runner, ...allArgs]);
  const { code, output } = await run(command, commandArgs, {
    cwd: root,
    env: toolEnvironment(),
    output: name === undefined ? "inherit" : "capture",
  });
  if (name !== undefined) process.stdout.write(`\n${name}\n${output}`);
  const counts = JSON.parse(readFileSync(report, "utf8"));
  const failures = /** @type {TestFile[]} */ (counts.testResults).flatMap(failuresOf);
  return {
    passed: counts.numPassedTests,
    // An error outside any file fails the run, too.
    failed: failures.length || (code === 0 ? 0 : 1),
    skipped: counts.numPendingTests + counts.numTodoTests + leftOut,
    failures: program === packagedNode() ? failures : failures.map((failure) => `(${program}) ${failure}`),
  };
}

/** @typedef {{ passed: number, failed: number, skipped: number, failures: string[] }} Counts `failures`: each with its file and why */

/**
 * Of vitest's JSON report.
 * @typedef {object} TestFile
 * @property {string} name its absolute path
 * @property {string} status
 * @property {string} message why it failed outside its tests
 * @property {{ status: string, fullName: string, failureMessages: string[] }[]} assertionResults
 */

/**
 * The tests that failed; a file that failed outside them is one itself.
 * @param {TestFile} file
 */
function failuresOf({ name, status, message, assertionResults }) {
  const path = relative(root, name);
  const failed = assertionResults.filter((test) => test.status === "failed");
  if (failed.length === 0 && status === "failed") return [`${path}\n${message}`];
  return failed.map((test) => {
    const why = test.failureMessages.join("\n").replaceAll(/\n +at .*(node_modules|new Promise ).*/g, "");
    return `${path} > ${test.fullName}\n${why}`;
  });
}
