import { readFileSync, rmSync } from "node:fs";
import { relative } from "node:path";
import { withFilesInMemory } from "../files-in-memory.mjs";
import { packagedNode, toolEnvironment } from "../packaged-node.mjs";
import { inRepository, root } from "../repository.mjs";
import { run } from "../run.mjs";

/**
 * Tests of one configuration of vitest.
 * @typedef {object} TestList
 * @property {string} name as it is printed; what the list writes and reports is its own by that
 * @property {string} config relative to the checkout
 * @property {string} [program] the Node to run it, if not the project's
 * @property {string} [workers] how many files at a time, if not as many as the configuration says
 */

/**
 * What became of a list.
 * @typedef {object} ListResult
 * @property {string} name
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped what is left out counts, too: a glob as one
 * @property {readonly string[]} failures each with its file and why
 * @property {number} seconds
 * @property {readonly FileResult[]} files
 */

/** @typedef {{ path: string, passed: number, seconds: number }} FileResult `path`: from the root of the checkout */

/**
 * Runs the tests of a list.
 * @param {TestList} list
 * @param {readonly string[]} args of vitest
 * @param {{ leftOut?: readonly string[], isLive?: boolean }} options `leftOut`: globs of tests that cannot run here; unless
 * `isLive`, what the list writes is printed at its end
 * @returns {Promise<ListResult>}
 */
export async function runList({ name, config, program = packagedNode(), workers }, args, options) {
  const { leftOut = [], isLive = false } = options;
  const report = inRepository(".cache", `vitest ${name}.json`);
  rmSync(report, { force: true });
  const allArgs = [
    "run",
    ...["--config", inRepository(config)],
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
    // ARGS may name tests of another list only.
    "--passWithNoTests",
    ...leftOut.flatMap(exclude),
    ...args,
  ];
  const runner = inRepository("node_modules", "vitest", "vitest.mjs");
  const [command, ...commandArgs] = await withFilesInMemory([program, runner, ...allArgs]);
  const began = performance.now();
  const { code, output } = await run(command, commandArgs, {
    cwd: root,
    env: { ...toolEnvironment(), ...(workers === undefined ? {} : { VITEST_MAX_WORKERS: workers }) },
    output: isLive ? "inherit" : "capture",
  });
  if (!isLive) process.stdout.write(`\n${name}\n${output}`);
  const counts = JSON.parse(readFileSync(report, "utf8"));
  const testFiles = /** @type {TestFile[]} */ (counts.testResults);
  const failures = testFiles.flatMap(failuresOf);
  return {
    name,
    passed: counts.numPassedTests,
    // An error outside any file fails the run, too.
    failed: failures.length || (code === 0 ? 0 : 1),
    skipped: counts.numPendingTests + counts.numTodoTests + leftOut.length,
    failures: program === packagedNode() ? failures : failures.map((failure) => `(${program}) ${failure}`),
    seconds: (performance.now() - began) / 1000,
    files: testFiles.map((file) => ({
      path: relative(root, file.name),
      passed: file.assertionResults.filter(({ status }) => status === "passed").length,
      seconds: (file.endTime - file.startTime) / 1000,
    })),
  };
}

/** Words of vitest that leave out what a glob names. @param {string} glob */
export function exclude(glob) {
  return ["--exclude", glob];
}

/**
 * Of vitest's JSON report.
 * @typedef {object} TestFile
 * @property {string} name its absolute path
 * @property {string} status
 * @property {string} message why it failed outside its tests
 * @property {number} startTime milliseconds
 * @property {number} endTime
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
