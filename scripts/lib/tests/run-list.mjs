import { existsSync, readFileSync, writeFileSync } from "node:fs";
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
 * @property {number} seconds of this run
 * @property {readonly FileResult[]} files
 */

/** @typedef {import("./notes-reporter.mjs").FileResult} FileResult */

/**
 * Runs the tests of a list.
 * @param {TestList} list
 * @param {readonly string[]} args of vitest
 * @param {{ leftOut?: readonly string[], isLive?: boolean, commit?: string }} options `leftOut`: globs of tests that cannot run
 * here; unless `isLive`, what the list writes is printed at its end; with `commit`, test files that ended in an earlier run over the
 * same commit do not run again: as they ended, passed or failed, they count
 * @returns {Promise<ListResult>}
 */
export async function runList({ name, config, program = packagedNode(), workers }, args, options) {
  const { leftOut = [], isLive = false, commit } = options;
  const notes = inRepository(".cache", `tests ${name}.jsonl`);
  const title = JSON.stringify({ commit: commit ?? "none" });
  const lines = existsSync(notes) ? readFileSync(notes, "utf8").split("\n").slice(0, -1) : [];
  const kept = commit !== undefined && lines[0] === title ? lines : [title];
  writeFileSync(notes, `${kept.join("\n")}\n`);
  const earlier = filesIn(notes);
  if (earlier.length > 0) process.stdout.write(`${name}: ${earlier.length} files ended in an earlier run.\n`);
  const allArgs = [
    "run",
    ...["--config", inRepository(config)],
    "--reporter=default",
    `--reporter=${inRepository("scripts", "lib", "tests", "notes-reporter.mjs")}`,
    // ARGS may name tests of another list only.
    "--passWithNoTests",
    ...[...leftOut, ...earlier.map(({ path }) => path)].flatMap(exclude),
    ...args,
  ];
  const runner = inRepository("node_modules", "vitest", "vitest.mjs");
  const [command, ...commandArgs] = await withFilesInMemory([program, runner, ...allArgs]);
  const began = performance.now();
  const { code, output } = await run(command, commandArgs, {
    cwd: root,
    env: {
      ...toolEnvironment(),
      GENNAI_TEST_NOTES: notes,
      ...(workers === undefined ? {} : { VITEST_MAX_WORKERS: workers }),
    },
    output: isLive ? "inherit" : "capture",
  });
  if (!isLive) process.stdout.write(`\n${name}\n${output}`);
  const files = filesIn(notes);
  const failures = files.flatMap((file) => file.failures);
  /** @param {(file: FileResult) => number} what */
  const sum = (what) => files.reduce((total, file) => total + what(file), 0);
  return {
    name,
    passed: sum((file) => file.passed),
    // An error outside any file fails the run, too.
    failed: failures.length || (code === 0 ? 0 : 1),
    skipped: sum((file) => file.skipped) + leftOut.length,
    failures: program === packagedNode() ? failures : failures.map((failure) => `(${program}) ${failure}`),
    seconds: (performance.now() - began) / 1000,
    files,
  };
}

/** @param {string} notes of `notes-reporter.mjs`, after a title @returns {readonly FileResult[]} */
function filesIn(notes) {
  const lines = readFileSync(notes, "utf8").split("\n").slice(1, -1);
  return lines.map((line) => /** @type {FileResult} */ (JSON.parse(line)));
}

/** Words of vitest that leave out what a glob names. @param {string} glob */
export function exclude(glob) {
  return ["--exclude", glob];
}
