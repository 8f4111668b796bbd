// `npm test -- --help` says what it takes.
import { existsSync } from "node:fs";
import { ensureBuilt } from "./lib/build.mjs";
import { ensureClaimedNodes } from "./lib/claimed-nodes.mjs";
import { helpIfAsked } from "./lib/command-line.mjs";
import { ensureInstalled } from "./lib/install.mjs";
import { inRepository } from "./lib/repository.mjs";
import {
  ensureBubblewrap,
  ensureCargo,
  ensureChromium,
  ensureMaven,
  ensureNatsServer,
} from "./lib/system-packages.mjs";
import { testsThatSeeChangeSince } from "./lib/tests/changed-tests.mjs";
import { notInThisRound } from "./lib/tests/rounds.mjs";
import { exclude, runList } from "./lib/tests/run-list.mjs";
import { sampleOf, seed } from "./lib/tests/sample.mjs";
import { recordWholeRun, testedCommit, wholeRunPage } from "./lib/tests/whole-run.mjs";

helpIfAsked(`npm test                     all tests but the long ones (*.long.test.ts); some, by a seed, of those that show the
                             same in many places (scripts/lib/tests/rounds.mjs); the built program under one further
                             version of Node of those that the README names. GENNAI_SAMPLE_SEED=N chooses again
npm test -- --all [PLACE …]  all of them, the long ones too: before a release, which needs what this writes into
                             docs/whole-run.md, part by part. Hours long: when it is killed, the next one over the same
                             commit goes on with the files that had not ended; what failed stays so until a commit
                             mends it. PLACE is a file or a folder: only these
npm test -- --changed [REF]  those that can see what is not committed, or what is different since this branch left REF: by
                             imports, and a few whole ways through the program, which no import shows
npm test -- ARGS             those that ARGS choose, long or not; ARGS are vitest's: parts of paths, -t NAME, …
npm test -- --nodes [ARGS]   only those that repeat under each further version of Node

What is in a browser runs beside the others, and says at its end what it did. GENNAI_TEST_WORKERS=N,M runs N files of the
others at a time, and M of those in a browser.

Ends with one line, "N passed, N failed"; with CI=true, a test that is skipped has failed.
`);

/** @typedef {import("./lib/tests/run-list.mjs").ListResult} ListResult */

/**
 * Words of vitest for each list that is to run.
 * @typedef {object} Request
 * @property {readonly string[]} [main]
 * @property {readonly string[]} [browser]
 * @property {{ args: readonly string[], count?: number }} [nodes] under so many of the further versions of Node, or all
 * @property {boolean} [inTurn] one list after the other, each printed as it goes
 * @property {string} [commit] that `--all` goes on with
 */

// One for all that runs.
process.env["GENNAI_SAMPLE_SEED"] = String(seed);

const [workers, browserWorkers] = process.env["GENNAI_TEST_WORKERS"]?.split(",") ?? [];
const mainList = { name: "main", config: "vitest.config.ts", workers };
const browserList = { name: "browser and VS Code", config: "test/e2e/vitest.config.ts", workers: browserWorkers };
const isInBrowser = (/** @type {string} */ test) => /^test\/e2e\/(browser|vscode)\//.test(test);
const notInBrowser = /^(?!test\/e2e\/(browser|vscode)(\/|$))/;
const perhapsInBrowser = /^test\/?$|^test\/e2e\/?$|^test\/e2e\/(browser|vscode)(\/|$)/;

const { passed, failed } = await testAll(process.argv.slice(2)).catch((error) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return { passed: 0, failed: 1 };
});
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

/** @param {readonly string[]} words of the command line */
async function testAll(words) {
  await ensureInstalled();
  const request = requested(words);
  if (request === undefined) return { passed: 0, failed: 0 };
  await ensureBuilt();
  const [first = "", ...places] = words;
  const isOfParts =
    (first === "--all" && places.every((place) => existsSync(inRepository(place)))) ||
    (first === "--nodes" && places.length === 0);
  const commit = isOfParts ? testedCommit() : undefined;
  const results = await runLists({ ...request, commit });
  /** @param {"passed" | "failed" | "skipped"} what */
  const sum = (what) => results.reduce((total, counts) => total + counts[what], 0);
  const [passed, failed, skipped] = [sum("passed"), sum("failed"), sum("skipped")];
  // Said at the end, where anyone who reads a log looks first.
  for (const { failures } of results) for (const failure of failures) process.stdout.write(`\nFAILED ${failure}\n`);
  if (passed + failed + skipped === 0) throw new Error("There are no such tests.");
  for (const { name, passed, seconds } of results)
    process.stdout.write(`${name}: ${passed} passed in ${Math.round(seconds)} s\n`);
  if (skipped > 0) process.stdout.write(`${skipped} skipped\n`);
  if (commit !== undefined) record({ commit, results });
  return { passed, failed: failed + (process.env.CI === "true" ? skipped : 0) };
}

/** @param {import("./lib/tests/whole-run.mjs").WholeRun} wholeRun */
function record(wholeRun) {
  const parts = testedCommit() === wholeRun.commit ? recordWholeRun(wholeRun) : undefined;
  const names = parts?.join(", ") || "none, as no part passed as a whole";
  process.stdout.write(parts ? `Recorded in ${wholeRunPage}: ${names}.\n` : "Not recorded: files changed meanwhile.\n");
}

/** @param {readonly string[]} words @returns {Request | undefined} undefined: there is nothing to run, which has been said */
function requested([first, ...rest]) {
  const withoutLong = exclude("**/*.long.test.ts");
  if (first === undefined) {
    const waiting = notInThisRound();
    process.stdout.write(`Seed ${seed}: ${waiting.length} test files wait for another round.\n`);
    const short = [...withoutLong, ...waiting.flatMap(exclude)];
    return { main: short, browser: short, nodes: { args: ["test/node-versions/built-program.test.ts"], count: 1 } };
  }
  if (first === "--nodes") return { nodes: { args: rest } };
  if (first === "--changed") return seeingChangeSince(rest[0] ?? "HEAD");
  if (first === "--all") process.env["GENNAI_SAMPLES"] = "whole";
  if (first === "--all" && rest.length === 0) return { main: [], browser: [], nodes: { args: [] } };
  const args = first === "--all" ? rest : [first, ...rest];
  // A part of a name may be in any of them.
  const places = args.filter((word) => existsSync(inRepository(word)));
  const mayHold = (/** @type {RegExp} */ tests) => places.length === 0 || places.some((place) => tests.test(place));
  return {
    ...(mayHold(notInBrowser) && { main: args }),
    ...(mayHold(perhapsInBrowser) && { browser: args }),
    inTurn: true,
  };
}

/** @param {string} ref @returns {Request | undefined} as `requested` */
function seeingChangeSince(ref) {
  const { tests, pages, total } = testsThatSeeChangeSince(ref);
  const count = tests === undefined ? `All ${total}` : `${tests.length} of ${total}`;
  process.stdout.write(`${count} test files can see what changed since ${ref}.\n`);
  if (pages !== undefined) process.env["GENNAI_DOCS_PAGES"] = pages.join(",");
  if (tests === undefined) return requested([]);
  const [browser, main] = [tests.filter(isInBrowser), tests.filter((test) => !isInBrowser(test))];
  // Without a word, vitest runs all.
  const list = (/** @type {readonly string[]} */ chosen) => (chosen.length > 0 ? chosen : undefined);
  return tests.length > 0 ? { main: list(main), browser: list(browser) } : undefined;
}

/**
 * What is in a browser runs beside the others, which leave time when they wait.
 * @param {Request} request
 * @returns {Promise<readonly ListResult[]>}
 */
async function runLists({ main, browser, nodes, commit, inTurn = false }) {
  // One after another: apt does one thing at a time.
  const leftOut = main && [
    ...[...(await ensureBubblewrap()), ...(await ensureNatsServer())],
    ...[...(await ensureCargo()), ...ensureMaven()],
  ];
  const noBrowser = browser && (await ensureChromium());
  const others = async () => (main ? [await runList(mainList, main, { leftOut, isLive: true, commit })] : []);
  const beside = async () => {
    const isLive = inTurn || main === undefined;
    const inBrowser = browser ? [await runList(browserList, browser, { leftOut: noBrowser, isLive, commit })] : [];
    return [...inBrowser, ...(nodes ? await underNodes(nodes, commit) : [])];
  };
  const results = inTurn ? [await others(), await beside()] : await Promise.all([others(), beside()]);
  return results.flat();
}

/**
 * All at once: each is few files, and waits much.
 * @param {NonNullable<Request["nodes"]>} nodes
 * @param {string | undefined} commit
 * @returns {Promise<readonly ListResult[]>}
 */
async function underNodes({ args, count = Number.POSITIVE_INFINITY }, commit) {
  const runs = sampleOf(await ensureClaimedNodes(), count).map(async ({ version, program }) => {
    const list = { name: `Node ${version}`, config: "test/node-versions/vitest.config.ts", program };
    if (program !== undefined) return runList(list, args, { commit });
    return { ...list, passed: 0, failed: 0, skipped: 1, failures: [], seconds: 0, files: [] };
  });
  return Promise.all(runs);
}
