import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runGate } from "../../release/gates/gate.ts";
import { wholeRunGate } from "../../release/gates/whole-run-gate.ts";
import { setVersion } from "../../release/set-version.ts";
import { claimedVersions } from "../../scripts/lib/claimed-nodes.mjs";
import type { FileResult } from "../../scripts/lib/tests/notes-reporter.mjs";
import { partsOnPage, passedParts, wholeRunPage, wholeRunText } from "../../scripts/lib/tests/whole-run.mjs";
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
const list = (name: string, ...files: readonly (string | (Partial<FileResult> & { readonly path: string }))[]) => ({
  name,
  passed: 2 * files.length,
  failed: 0,
  skipped: 0,
  failures: [],
  seconds: 1234.5,
  files: files.map((file) => ({
    passed: 2,
    skipped: 0,
    failures: [],
    seconds: 0.75,
    ...(typeof file === "string" ? { path: file } : file),
  })),
});
const testFiles = [
  "packages/store/test/a.test.ts",
  "packages/store/test/b/c.test.ts",
  "test/e2e/vscode/e.test.ts",
  "test/wire/d.test.ts",
];
const nodes = claimedVersions.map((version) => list(`Node ${version}`, "packages/store/test/a.test.ts"));
const browser = list("browser and VS Code", "test/e2e/vscode/e.test.ts");
const results = [list("main", ...testFiles.filter((path) => !path.includes("e2e"))), browser, ...nodes];
const here = { testFiles, date: "2026-12-01", machine: "Node 24.21.0, 2 x some" };
const pageOf = (id: string) => wholeRunText(passedParts({ commit: id, results }, here));

describe("the page of the last whole run", () => {
  const id = "0123456789".repeat(4);
  test("says of each part over which commit it passed, when and where", () => {
    const text = pageOf(id);
    const rows = text.split("\n").map((line) => line.replaceAll(/ +/g, " "));
    expect(rows).toContain("| part | on | commit | files | passed | seconds | where |");
    for (const row of [
      `| Node 22.13.1 | 2026-12-01 | ${id} | 1 | 2 | 1 | Node 24.21.0, 2 x some |`,
      `| packages/store | 2026-12-01 | ${id} | 2 | 4 | 2 | Node 24.21.0, 2 x some |`,
      `| test/e2e/vscode | 2026-12-01 | ${id} | 1 | 2 | 1 | Node 24.21.0, 2 x some |`,
    ])
      expect(rows).toContain(row);
    expect(wholeRunText(partsOnPage(text))).toBe(text);
  });
  test.each([
    { name: "of which a file did not run", result: list("main", "packages/store/test/a.test.ts") },
    {
      name: "of which a test failed",
      result: { ...list("main", { path: "test/wire/d.test.ts", failures: ["d"] }), failed: 1 },
    },
    {
      name: "of which a test was left out",
      result: list("main", { path: "test/wire/d.test.ts", skipped: 1 }),
    },
    {
      name: "beside which something failed that is of no file",
      result: { ...list("main", "packages/store/test/a.test.ts", "packages/store/test/b/c.test.ts"), failed: 1 },
    },
    { name: "that failed under a Node", result: { ...list("Node 26.10.0", "a.test.ts"), failed: 1 } },
  ])("does not have a part $name", ({ result }) => {
    const parts = passedParts({ commit: id, results: [result, browser] }, here);
    expect(parts.map(({ name }) => name)).toEqual(["test/e2e/vscode"]);
  });
  test("can be read as it stands", () => {
    const text = readFileSync(join(root, wholeRunPage), "utf8");
    expect(wholeRunText(partsOnPage(text))).toBe(text);
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
    ...Object.fromEntries(testFiles.map((path) => [path, ""])),
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
      reason:
        /packages\/store\/src\/a\.ts changed since [0-9a-f]{40}, the commit of Node .* and others: npm test -- --all$/,
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
      change: () => write({ [wholeRunPage]: "" }),
      reason: /docs\/whole-run\.md does not have Node .* and others: npm test -- --all$/,
    },
    {
      name: "a part that is new",
      change: () => write({ "test/other/f.test.ts": "" }),
      reason: /does not have test\/other: npm test -- --all$/,
    },
    {
      name: "a record of a commit that nobody knows",
      change: () => write({ [wholeRunPage]: pageOf("0".repeat(40)) }),
      reason: /This checkout does not know the commit 0{40} of Node .*: npm test -- --all$/,
    },
  ])("after a whole run: $name", async ({ change, reason }) => {
    git("reset", "--quiet", "--hard", whole);
    write({ [wholeRunPage]: pageOf(whole) });
    change();
    commit();
    expect(await judged()).toEqual(reason === "" ? "" : expect.stringMatching(reason));
  });
});
