import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { packagedNode } from "../packaged-node.mjs";
import { inRepository, root } from "../repository.mjs";

/** Where the last whole run stands. */
export const wholeRunPage = "docs/whole-run.md";

/** What the page says before there was one. */
const head = `# The last whole run of the tests

\`npm test -- --all\` writes this page when all passed, nothing was left out, and the tests ran over a commit. A
[release](release.md#gates) needs it: after that commit only pages of the documentation and the version may have changed.
`;

/** @param {...string} args */
function git(...args) {
  return execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
}

/** The commit that is checked out; undefined when something else than pages differs from it, and the tests run over that. */
export function testedCommit() {
  const exceptPages = [".", ":(exclude)docs", ":(exclude,glob)*.md"];
  const isChanged = git("status", "--porcelain", "--untracked-files=all", "--", ...exceptPages) !== "";
  return isChanged ? undefined : git("rev-parse", "HEAD");
}

/**
 * @typedef {object} WholeRun
 * @property {string} commit full id
 * @property {readonly import("./run-list.mjs").ListResult[]} results
 */

/** Writes the page. @param {WholeRun} wholeRun */
export function recordWholeRun(wholeRun) {
  const [cpu] = cpus();
  const where = `${cpus().length} x ${cpu?.model.trim() ?? "?"}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform}`;
  const node = execFileSync(packagedNode(), ["--version"], { encoding: "utf8" }).trim().slice(1);
  const machine = `Node ${node}, ${where}, load at the end ${(loadavg()[0] ?? 0).toFixed(1)}.`;
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(inRepository(wholeRunPage), wholeRunText(wholeRun, { date, machine }));
}

/** @param {WholeRun} wholeRun @param {{ date: string, machine: string }} where */
export function wholeRunText({ commit, results }, { date, machine }) {
  const lists = results.map(({ name, files, passed }) => {
    return [name, files.length, passed, files.reduce((total, file) => total + file.seconds, 0)];
  });
  /** @type {Map<string, { files: number, passed: number, seconds: number }>} */
  const parts = new Map();
  for (const { path, passed, seconds } of results.filter(({ name }) => !name.startsWith("Node ")).flatMap(filesOf)) {
    const name = path
      .split("/")
      .slice(0, path.startsWith("test/e2e") ? 3 : 2)
      .join("/");
    const part = parts.get(name) ?? { files: 0, passed: 0, seconds: 0 };
    parts.set(name, { files: part.files + 1, passed: part.passed + passed, seconds: part.seconds + seconds });
  }
  const byPart = [...parts].map(([name, { files, passed, seconds }]) => [`\`${name}\``, files, passed, seconds]);
  return `${head}
${date}, commit ${commit}. ${machine}

${table("list", lists)}
The lists ran at the same time, several files of each too. Seconds are those of the files, all together. By parts:

${table(
  "part",
  byPart.sort(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
)}`;
}

/** The commit that the page names; undefined when none is recorded. @param {string} text */
export function commitOfWholeRun(text) {
  return /^\d{4}-\d\d-\d\d, commit ([0-9a-f]{40})\./m.exec(text)?.[1];
}

/** @param {import("./run-list.mjs").ListResult} result */
function filesOf({ files }) {
  return files;
}

/** @param {string} what @param {readonly (readonly (string | number)[])[]} rows name, files, passed, seconds */
function table(what, rows) {
  const cells = rows.map((row) =>
    row.map((cell) => (typeof cell === "number" ? Math.round(cell).toLocaleString("en-US") : cell)),
  );
  const lines = [[what, "files", "passed", "seconds"], ["---", "--:", "--:", "--:"], ...cells];
  return `${lines.map((line) => `| ${line.join(" | ")} |\n`).join("")}`;
}
