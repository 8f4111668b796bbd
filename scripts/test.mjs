// `npm test -- ARGS`: every test; ARGS go to vitest. Ends with one line, `N passed, N failed`. With CI=true nothing may be skipped.
import { readFileSync, rmSync } from "node:fs";
import { relative } from "node:path";
import { ensureBuilt } from "./lib/build.mjs";
import { ensureInstalled } from "./lib/install.mjs";
import { packagedNode, toolEnvironment } from "./lib/packaged-node.mjs";
import { inRepository, root } from "./lib/repository.mjs";
import { run } from "./lib/run.mjs";
import { ensureBubblewrap, ensureChromium, ensureNatsServer } from "./lib/system-packages.mjs";

const { passed, failed } = await testAll().catch((error) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return { passed: 0, failed: 1 };
});
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

async function testAll() {
  await ensureInstalled();
  await ensureBuilt();
  const machine = await vitest("vitest.config.ts", [...(await ensureBubblewrap()), ...(await ensureNatsServer())]);
  // A browser and a whole VS Code want the machine for themselves.
  const browser = await vitest("test/e2e/vitest.config.ts", await ensureChromium());
  const passed = machine.passed + browser.passed;
  const failed = machine.failed + browser.failed;
  // Said at the end, where whoever reads a log looks first.
  for (const failure of [...machine.failures, ...browser.failures]) process.stdout.write(`\nFAILED ${failure}\n`);
  const skipped = machine.skipped + browser.skipped;
  if (passed + failed + skipped === 0) throw new Error("There are no such tests.");
  if (skipped > 0) process.stdout.write(`${skipped} skipped\n`);
  return { passed, failed: failed + (process.env.CI === "true" ? skipped : 0) };
}

/**
 * Runs the tests of one configuration. What is left out counts as skipped, a glob as one.
 * @param {string} config @param {readonly string[]} leftOut globs
 * @returns {Promise<{ passed: number, failed: number, skipped: number, failures: string[] }>} `failures`: each with its file and why
 */
async function vitest(config, leftOut) {
  const report = inRepository(".cache", "vitest.json");
  rmSync(report, { force: true });
  const args = [
    "run",
    ...["--config", inRepository(config)],
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
    // ARGS may name tests of the other configuration only.
    "--passWithNoTests",
    ...leftOut.flatMap((glob) => ["--exclude", glob]),
    ...process.argv.slice(2),
  ];
  const { code } = await run(packagedNode(), [inRepository("node_modules", "vitest", "vitest.mjs"), ...args], {
    cwd: root,
    env: toolEnvironment(),
    output: "inherit",
  });
  const counts = JSON.parse(readFileSync(report, "utf8"));
  const failures = /** @type {TestFile[]} */ (counts.testResults).flatMap(failuresOf);
  return {
    passed: counts.numPassedTests,
    // An error outside any file fails the run, too.
    failed: failures.length || (code === 0 ? 0 : 1),
    skipped: counts.numPendingTests + counts.numTodoTests + leftOut.length,
    failures,
  };
}

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
