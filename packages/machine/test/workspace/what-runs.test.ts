import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { openLocalWorkspace } from "#workspace/local-workspace";
import { whatRuns } from "#workspace/what-runs";

const manifest = (scripts: Record<string, unknown>) => JSON.stringify({ scripts });

test.each<[string, Readonly<Record<string, string>>, string, readonly string[]]>([
  ["a command that names nothing", {}, "true", []],
  ["a file of the workspace", { "check.sh": "true" }, "sh ./check.sh --fast", ["./check.sh"]],
  ["a file behind an option", { "c.json": "{}" }, "lint --config=c.json", ["c.json"]],
  ["a file in quotes", { "a b/c.sh": "", "b/c.sh": "" }, "sh 'b/c.sh'", ["b/c.sh"]],
  [
    "scripts that lead to others, with those that run before and after",
    {
      "package.json": manifest({ check: "npm run lint && tsc", lint: "eslint .", prelint: "x", postcheck: "y", z: "" }),
    },
    "npm run check",
    ["package.json check", "package.json lint", "package.json postcheck", "package.json prelint"],
  ],
  [
    "scripts that lead to each other",
    { "package.json": manifest({ a: "npm run b", b: "npm run a" }) },
    "npm run a",
    ["package.json a", "package.json b"],
  ],
  [
    "files that a script names, and what its shell is",
    { "package.json": manifest({ lint: "node scripts/lint.mjs" }), "scripts/lint.mjs": "", ".npmrc": "script-shell=x" },
    "npm run lint",
    [".npmrc", "package.json lint", "scripts/lint.mjs"],
  ],
  ["what make obeys", { Makefile: "lint:", makefile: "" }, "make lint", ["Makefile", "makefile"]],
  ["what cargo builds by", { "Cargo.toml": "", "build.rs": "" }, "cargo check", ["Cargo.toml", "build.rs"]],
  ["what runs of a directory", { "tool/index.js": "", "tool/lib.js": "" }, "node ./tool", ["./tool/index.js"]],
  ["no data that it is given", { "a.db": "", "b.csv": "" }, "serve --db a.db b.csv", []],
  ["nothing outside", {}, "sh /etc/passwd ../../etc/hosts ~/.bashrc", []],
  ["a manifest that is not JSON", { "package.json": "{" }, "npm run lint", []],
  ["a script that is not text", { "package.json": manifest({ lint: 1 }) }, "npm run lint", []],
])("%s", async (_name, files, command, wanted) => {
  await using directory = await temporaryDirectory(files);
  await using state = await temporaryDirectory();
  const workspace = openLocalWorkspace(directory.root, { stateDir: state.root });
  expect(Object.keys(await whatRuns(workspace, command)).toSorted()).toEqual(wanted);
});

test("in a directory of the workspace, its own package.json counts", async () => {
  await using directory = await temporaryDirectory({
    "a/package.json": manifest({ lint: "sh x.sh" }),
    "a/x.sh": "true",
  });
  await using state = await temporaryDirectory();
  const workspace = openLocalWorkspace(directory.root, { stateDir: state.root });
  expect(await whatRuns(workspace, "npm run lint", { cwd: "a" })).toEqual({
    "package.json lint": "sh x.sh",
    "x.sh": expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});
