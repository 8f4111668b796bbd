import { execFileSync } from "node:child_process";
import { posix } from "node:path";
import { root } from "../repository.mjs";
import { importersIn } from "./import-graph.mjs";

const { dirname } = posix;

/** They put the program together: by them, a change would touch every test that starts a server or a command line. */
const composing = ["packages/server/src/serve.ts", "packages/cli/src/main.ts", "packages/cli/src/command-line.ts"];

/** What all tests run with. */
const ofAll =
  /^(package\.json|pnpm-[^/]*|\.pnpmfile\.cjs|tsconfig\.base\.json|vitest\.config\.ts|test\/[^/]+\.(ts|json))$/;
const page = /^(docs\/|[^/]+\.md$)/;
const runsExamples = "test/docs/examples.test.ts";
const runsPages = "test/docs/pages.test.ts";

/** They look at the whole checkout. */
export const lookingAtAll = [
  "test/docs/architecture-tree.test.ts",
  "test/docs/named-files.test.ts",
  "test/programs/started-programs.test.ts",
  "test/requirements/coverage.test.ts",
];

/**
 * Whole ways through the program, which no import shows: what a change that matches may touch through a server, a page, an editor.
 * @type {readonly { change: RegExp, tests: readonly string[] }[]}
 */
export const wholeWays = [
  {
    change: /^(proto\/|packages\/(?!testkit|vscode|repl|ledger-page)[^/]+\/(src\/|package\.json))/,
    tests: [
      "test/e2e/governance/ledger/records.test.ts",
      "test/e2e/governance/rules/limits-and-hooks.test.ts",
      "test/e2e/process/few-descriptors.test.ts",
      "test/e2e/rpc/changes/apply-proposal.test.ts",
      "test/e2e/rpc/turns/ask-user.test.ts",
      "test/e2e/rpc/turns/turns.test.ts",
      "test/e2e/sandbox/staged/staged-commands.test.ts",
    ],
  },
  {
    change: /^packages\/(client|repl|ledger-page)\/(src|scripts)\//,
    tests: ["test/e2e/browser/panels/panels.test.ts", "test/e2e/browser/review/staged-proposal.test.ts"],
  },
  {
    change: /^packages\/vscode\/(src|scripts|package\.json)/,
    tests: ["test/e2e/vscode/panels/commands.test.ts"],
  },
];

/**
 * What to run of the tests after a change.
 * @typedef {object} Choice
 * @property {readonly string[] | undefined} tests sorted; undefined: all
 * @property {readonly string[] | undefined} pages of the documentation whose commands are run; undefined: all
 */

/**
 * Chooses the tests that can see what is different from a commit, committed or not.
 * @param {string} ref a branch counts from where this one left it
 * @returns {Choice & { total: number }} `total`: test files there are
 */
export function testsThatSeeChangeSince(ref) {
  /** @param {...string} args */
  const git = (...args) =>
    execFileSync("git", args, {
      cwd: root,
      encoding: "utf8",
      maxBuffer: 1 << 28,
      stdio: "pipe",
    });
  /** @param {...string} args */
  const names = (...args) =>
    git(...args, "-z")
      .split("\0")
      .filter(Boolean);
  const since = git("merge-base", ref, "HEAD").trim();
  const others = names("ls-files", "--others", "--exclude-standard");
  const files = [...names("ls-files"), ...others];
  const changed = [...names("diff", "--name-only", "--no-renames", since), ...others];
  // What is gone is still named by those that must learn of it.
  const choice = testsThatSee(changed, files, importersIn(root, [...new Set([...files, ...changed])]));
  return { ...choice, total: testsOf(files).length };
}

/**
 * Chooses the tests that can see a change: by imports, by the folder that mirrors a changed one, and `wholeWays`. Long tests only when
 * they changed themselves.
 * @param {readonly string[]} changed paths from the root of the checkout, with `/`; also those that are gone
 * @param {readonly string[]} files all that are there
 * @param {ReadonlyMap<string, ReadonlySet<string>>} importers which files name a file
 * @returns {Choice}
 */
export function testsThatSee(changed, files, importers) {
  if (changed.some((file) => ofAll.test(file))) return { tests: undefined, pages: undefined };
  const tests = testsOf(files);
  const chosen = new Set(changed.flatMap((file) => seeing(file, tests, importers)));
  if (changed.length > 0) for (const test of lookingAtAll) chosen.add(test);
  return {
    tests: tests
      .filter((test) => chosen.has(test) && (!test.endsWith(".long.test.ts") || changed.includes(test)))
      .sort(),
    pages: changed.some((file) => file.startsWith("test/docs/"))
      ? undefined
      : changed.filter((file) => page.test(file) && file.endsWith(".md")),
  };
}

/** @param {readonly string[]} files */
function testsOf(files) {
  return files.filter((file) => file.endsWith(".test.ts"));
}

/**
 * @param {string} file that changed @param {readonly string[]} tests @param {ReadonlyMap<string, ReadonlySet<string>>} importers
 * @returns {readonly string[]}
 */
function seeing(file, tests, importers) {
  const reached = reachedFrom(file, importers);
  const found = [...reached].filter((each) => each.endsWith(".test.ts"));
  const parts = [...reached].filter((each) => composing.some((whole) => importers.get(each)?.has(whole)));
  found.push(...[file, ...parts].flatMap((each) => mirroring(each, tests)));
  found.push(...wholeWays.flatMap((way) => (way.change.test(file) ? way.tests : [])));
  if (page.test(file)) found.push(...tests.filter((test) => test.startsWith("test/docs/") && test !== runsExamples));
  if (file.startsWith("examples/")) found.push(runsExamples, runsPages);
  return found.length > 0 ? found : nearest(file, tests);
}

/**
 * The file, and all that load it when they run.
 * @param {string} file @param {ReadonlyMap<string, ReadonlySet<string>>} importers
 */
function reachedFrom(file, importers) {
  const reached = new Set([file]);
  // The loop comes to what is added meanwhile, too.
  for (const each of reached) {
    if (composing.includes(each)) continue;
    for (const importer of importers.get(each) ?? []) reached.add(importer);
  }
  return reached;
}

/** Those in the folder of a package's tests that mirrors the file's own. @param {string} file @param {readonly string[]} tests */
function mirroring(file, tests) {
  const folder = dirname(file).replace(/^(packages\/[^/]+)\/src(?=\/|$)/, "$1/test");
  return folder === dirname(file) ? [] : tests.filter((test) => dirname(test) === folder);
}

/** Those in the nearest folder around the file that holds any: it is data of theirs. @param {string} file @param {readonly string[]} tests */
function nearest(file, tests) {
  for (let folder = dirname(file); folder !== "."; folder = dirname(folder)) {
    const inside = tests.filter((test) => test.startsWith(`${folder}/`));
    if (inside.length > 0) return inside;
  }
  return [];
}
