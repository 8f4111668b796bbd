import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { claimedVersions } from "../claimed-nodes.mjs";
import { packagedNode } from "../packaged-node.mjs";
import { inRepository, root } from "../repository.mjs";

/** Where it stands which commit each part of the tests last passed over, as a whole. */
export const wholeRunPage = "docs/whole-run.md";

const head = `# The last whole run of the tests

\`npm test -- --all\` runs all tests, the long ones too; \`npm test -- --all PLACE …\` some parts, on this or another machine. A part whose files
all passed over a commit, with nothing left out, is written here. A [release](release.md#gates) needs all of them: after their commits only
pages of the documentation and the version may have changed.

`;

/**
 * A part of the tests, and how it last passed.
 * @typedef {object} Part
 * @property {string} name `packages/NAME`, `test/NAME`, `test/e2e/NAME`, or `Node VERSION`
 * @property {string} commit full id
 * @property {string} date YYYY-MM-DD
 * @property {number} files
 * @property {number} passed tests
 * @property {number} seconds of its files, one after the other
 * @property {string} machine
 */

/** @typedef {{ commit: string, results: readonly import("./run-list.mjs").ListResult[] }} WholeRun `commit`: full id */

/** @param {string} directory @param {...string} args */
function git(directory, ...args) {
  return execFileSync("git", args, { cwd: directory, encoding: "utf8" }).trim();
}

/** The commit that is checked out; undefined when something else than pages differs from it, and the tests run over that. */
export function testedCommit() {
  const exceptPages = [".", ":(exclude)docs", ":(exclude,glob)*.md"];
  const isChanged = git(root, "status", "--porcelain", "--untracked-files=all", "--", ...exceptPages) !== "";
  return isChanged ? undefined : git(root, "rev-parse", "HEAD");
}

/** Writes the parts that passed as a whole into the page. @param {WholeRun} wholeRun @returns {readonly string[]} their names */
export function recordWholeRun(wholeRun) {
  const [cpu] = cpus();
  const where = `${cpus().length} x ${cpu?.model.trim() ?? "?"}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform}`;
  const node = execFileSync(packagedNode(), ["--version"], { encoding: "utf8" }).trim().slice(1);
  const machine = `Node ${node}, ${where}, load ${(loadavg()[0] ?? 0).toFixed(1)}`;
  const date = new Date().toISOString().slice(0, 10);
  const passed = passedParts(wholeRun, { testFiles: testFilesIn(root), date, machine });
  const known = partsOnPage(readFileSync(inRepository(wholeRunPage), "utf8"));
  const names = partsOf(root);
  const others = known.filter(({ name }) => names.includes(name) && passed.every((part) => part.name !== name));
  writeFileSync(inRepository(wholeRunPage), wholeRunText([...others, ...passed]));
  return passed.map(({ name }) => name);
}

/**
 * The parts of which every file ran and passed, and none was skipped.
 * @param {WholeRun} wholeRun
 * @param {{ testFiles: readonly string[], date: string, machine: string }} here `testFiles`: all that there are
 * @returns {readonly Part[]}
 */
export function passedParts({ commit, results }, { testFiles, date, machine }) {
  const ofNodes = results.filter(({ name }) => isOfNode(name));
  // What fails outside of the test files may be the fault of any.
  const inOrder = results.filter((list) => list.failed === list.files.reduce(failuresIn(testFiles), 0));
  const others = inOrder.filter(({ name }) => !isOfNode(name)).flatMap(({ files }) => files);
  const inFolders = [...new Set(testFiles.map(partOf))].map((name) => {
    const files = others.filter(({ path }) => partOf(path) === name);
    const ranWhole = testFiles.every((path) => partOf(path) !== name || files.some((file) => file.path === path));
    return { name, files, isWhole: ranWhole && files.every((file) => file.failures.length + file.skipped === 0) };
  });
  const underNodes = ofNodes.map(({ name, files, failed, skipped }) => ({
    name,
    files,
    isWhole: failed + skipped === 0,
  }));
  return [...inFolders, ...underNodes]
    .filter(({ isWhole }) => isWhole)
    .map(({ name, files }) => {
      /** @param {"passed" | "seconds"} what */
      const sum = (what) => files.reduce((total, file) => total + file[what], 0);
      return { name, commit, date, files: files.length, passed: sum("passed"), seconds: sum("seconds"), machine };
    });
}

/** @param {readonly string[]} testFiles */
function failuresIn(testFiles) {
  return (/** @type {number} */ total, /** @type {import("./run-list.mjs").FileResult} */ { path, failures }) =>
    total + (testFiles.includes(path) ? failures.length : 0);
}

/** The names of all parts of a checkout, sorted. @param {string} directory its root */
export function partsOf(directory) {
  const names = new Set([
    ...testFilesIn(directory).map(partOf),
    ...claimedVersions.map((version) => `Node ${version}`),
  ]);
  return [...names].sort();
}

/** @param {readonly Part[]} parts */
export function wholeRunText(parts) {
  const rows = parts
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ name, commit, date, files, passed, seconds, machine }) => {
      const numbers = [files, passed, Math.round(seconds)].map((number) => number.toLocaleString("en-US"));
      return [name, date, commit, ...numbers, machine];
    });
  const all = [["part", "on", "commit", "files", "passed", "seconds", "where"], ...rows];
  const widths = all[0]?.map((_title, index) => Math.max(3, ...all.map((row) => row[index]?.length ?? 0))) ?? [];
  const isNumber = (/** @type {number} */ index) => index >= 3 && index <= 5;
  const [titles, ...others] = all.map((row) =>
    row.map((cell, index) => (isNumber(index) ? cell.padStart(widths[index] ?? 0) : cell.padEnd(widths[index] ?? 0))),
  );
  const rule = widths.map((width, index) => (isNumber(index) ? `${"-".repeat(width - 1)}:` : "-".repeat(width)));
  return `${head}${[titles ?? [], rule, ...others].map((line) => `| ${line.join(" | ")} |\n`).join("")}`;
}

/** @param {string} text of the page @returns {readonly Part[]} */
export function partsOnPage(text) {
  const rows = text.matchAll(
    /^\| (\S[^|]*?) +\| (\d{4}-\d\d-\d\d) \| ([0-9a-f]{40}) \| +([\d,]+) \| +([\d,]+) \| +([\d,]+) \| ([^|]+?) +\|$/gm,
  );
  return [...rows].map(([, name = "", date = "", commit = "", files, passed, seconds, machine = ""]) => {
    const [fileCount = 0, passedCount = 0, secondCount = 0] = [files, passed, seconds].map((number) =>
      Number(number?.replaceAll(",", "")),
    );
    return { name, commit, date, files: fileCount, passed: passedCount, seconds: secondCount, machine };
  });
}

/** @param {string} name of a list or a part */
function isOfNode(name) {
  return name.startsWith("Node ");
}

/** @param {string} path of a test file, from the root of the checkout */
function partOf(path) {
  return path
    .split("/")
    .slice(0, path.startsWith("test/e2e/") ? 3 : 2)
    .join("/");
}

/** @param {string} directory @returns {readonly string[]} paths from there */
function testFilesIn(directory) {
  return git(directory, "ls-files", "-z", "*.test.ts").split("\0").slice(0, -1);
}
