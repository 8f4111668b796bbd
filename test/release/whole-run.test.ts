import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runGate } from "../../release/gates/gate.ts";
import { wholeRunGate } from "../../release/gates/whole-run-gate.ts";
import { setVersion } from "../../release/set-version.ts";
import { commitOfWholeRun, wholeRunPage, wholeRunText } from "../../scripts/lib/tests/whole-run.mjs";
import { root } from "./small-release.ts";

const checkout = mkdtempSync(join(tmpdir(), "gennai-whole-run-"));
afterAll(() => {
  rmSync(checkout, { recursive: true, force: true });
});

const git = (...args: readonly string[]) => {
  const identity = ["-c", "user.name=Test", "-c", "user.email=test@gennai.invalid"];
  return execFileSync("git", [...identity, ...args], { cwd: checkout, encoding: "utf8" }).trim();
};
const write = (files: Readonly<Record<string, string>>) => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(checkout, name)), { recursive: true });
    writeFileSync(join(checkout, name), text);
  }
};
const commit = () => {
  git("add", "--all");
  git("commit", "--quiet", "--message", "x");
  return git("rev-parse", "HEAD");
};
const list = (name: string, ...files: readonly string[]) => ({
  name,
  passed: 2 * files.length,
  failed: 0,
  skipped: 0,
  failures: [],
  seconds: 1234.5,
  files: files.map((path) => ({ path, passed: 2, skipped: 0, failures: [], seconds: 0.75 })),
});
const results = [
  list("main", "packages/store/test/a.test.ts", "packages/store/test/b/c.test.ts", "test/wire/d.test.ts"),
  list("browser and VS Code", "test/e2e/vscode/e.test.ts"),
  list("Node 22.13.1", "packages/store/test/a.test.ts"),
];
const where = { date: "2026-12-01", machine: "Node 24.21.0, 2 x some." };

describe("the page of the last whole run", () => {
  const id = "0123456789".repeat(4);
  test("says when, where, and what each list and each part took", () => {
    expect(wholeRunText({ commit: id, results }, where)).toContain(`2026-12-01, commit ${id}. Node 24.21.0, 2 x some.

| list | files | passed | seconds |
| --- | --: | --: | --: |
| main | 3 | 6 | 2 |
| browser and VS Code | 1 | 2 | 1 |
| Node 22.13.1 | 1 | 2 | 1 |

The lists ran at the same time, several files of each too. Seconds are those of the files, all together. By parts:

| part | files | passed | seconds |
| --- | --: | --: | --: |
| \`packages/store\` | 2 | 4 | 2 |
| \`test/e2e/vscode\` | 1 | 2 | 1 |
| \`test/wire\` | 1 | 2 | 1 |
`);
  });
  test("names its commit, or none", () => {
    expect(commitOfWholeRun(wholeRunText({ commit: id, results }, where))).toBe(id);
    expect(commitOfWholeRun("None is recorded yet.\n")).toBeUndefined();
    expect(commitOfWholeRun("2026-12-01, commit 01234567. Node\n")).toBeUndefined();
  });
  test("can be read as it stands", () => {
    const text = readFileSync(join(root, wholeRunPage), "utf8");
    expect(commitOfWholeRun(text) !== undefined || text.includes("None is recorded yet.")).toBe(true);
  });
});

describe("a release is refused unless all tests passed over it", () => {
  const program = "packages/store/src/a.ts";
  const sources = {
    "package.json": '{"version": "0.1.0"}\n',
    "packages/cli/package.json": '{"version": "0.1.0", "dependencies": {"other": "0.1.0"}}\n',
    "packages/vscode/package.json": '{"version": "0.1.0"}\n',
    "packages/cli/src/terminal/version.ts": 'export const version = "0.1.0";\n',
    [program]: "export const a = 1;\n",
    "packages/store/README.md": "0.1.0\n",
  };
  let whole: string;
  beforeAll(() => {
    git("init", "--quiet");
    write(sources);
    whole = commit();
  });
  const judged = async () => {
    const context = { root: checkout, directory: "", version: "0.1.0", publicKey: "", scratch: checkout };
    const { result } = await runGate(wholeRunGate, context, {
      print: () => undefined,
      signal: new AbortController().signal,
    });
    return result.reason;
  };

  test.each<{ readonly name: string; readonly change: () => void; readonly reason: string | RegExp }>([
    { name: "nothing but the record", change: () => undefined, reason: "" },
    { name: "pages", change: () => write({ "docs/a.md": "b\n", "CHANGELOG.md": "c\n" }), reason: "" },
    { name: "the version", change: () => void setVersion(checkout, "0.2.0"), reason: "" },
    {
      name: "a source",
      change: () => write({ [program]: "export const a = 2;\n" }),
      reason: /packages\/store\/src\/a\.ts changed since [0-9a-f]{40}: npm test -- --all$/,
    },
    {
      name: "a dependency's version beside our own",
      change: () => {
        setVersion(checkout, "0.2.0");
        write({ "packages/cli/package.json": '{"version": "0.2.0", "dependencies": {"other": "0.2.0"}}\n' });
      },
      reason: /packages\/cli\/package\.json changed/,
    },
    {
      name: "a page that is no documentation",
      change: () => write({ "packages/store/README.md": "0.1.1\n" }),
      reason: /packages\/store\/README\.md changed/,
    },
    { name: "a new file", change: () => write({ "test/new.ts": "" }), reason: /test\/new\.ts changed/ },
    { name: "a file that is gone", change: () => rmSync(join(checkout, program)), reason: /a\.ts changed/ },
    {
      name: "no record",
      change: () => write({ [wholeRunPage]: "None is recorded yet.\n" }),
      reason: /docs\/whole-run\.md records none: npm test -- --all$/,
    },
    {
      name: "a record of a commit that nobody knows",
      change: () => write({ [wholeRunPage]: wholeRunText({ commit: "0".repeat(40), results }, where) }),
      reason: /This checkout does not know its commit 0{40}: npm test -- --all$/,
    },
  ])("after a whole run: $name", async ({ change, reason }) => {
    git("reset", "--quiet", "--hard", whole);
    write({ [wholeRunPage]: wholeRunText({ commit: whole, results }, where) });
    change();
    commit();
    expect(await judged()).toEqual(reason === "" ? "" : expect.stringMatching(reason));
  });
});
