import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../../scripts/lib/repository.mjs";
import { lookingAtAll, testsThatSee, wholeWays } from "../../scripts/lib/tests/changed-tests.mjs";
import { importersIn } from "../../scripts/lib/tests/import-graph.mjs";

const files = [
  "packages/machine/src/stage/open.ts",
  "packages/machine/src/stage/layer.ts",
  "packages/machine/test/stage/layer.test.ts",
  "packages/machine/test/stage/slow.long.test.ts",
  "packages/machine/test/stage/inner/deep.test.ts",
  "packages/machine/test/other.test.ts",
  "packages/server/src/serve.ts",
  "packages/cli/src/command-line.ts",
  "packages/cli/src/commands/try/try-command.ts",
  "packages/cli/test/commands/try/try.test.ts",
  "packages/cli/test/program.test.ts",
  "packages/vscode/src/extension.ts",
  "packages/vscode/test/manifest.test.ts",
  "test/corpus/cases/git.json",
  "test/corpus/corpus.test.ts",
  "test/docs/examples.test.ts",
  "test/docs/links.test.ts",
  "test/docs/pages.test.ts",
  "test/e2e/server.test.ts",
];
const importers = new Map<string, ReadonlySet<string>>([
  ["packages/machine/src/stage/layer.ts", new Set(["packages/machine/src/stage/open.ts"])],
  [
    "packages/machine/src/stage/open.ts",
    new Set([
      "packages/machine/test/other.test.ts",
      "packages/machine/test/stage/slow.long.test.ts",
      "packages/server/src/serve.ts",
      "packages/cli/src/commands/try/try-command.ts",
    ]),
  ],
  ["packages/cli/src/commands/try/try-command.ts", new Set(["packages/cli/src/command-line.ts"])],
  ["packages/cli/src/command-line.ts", new Set(["packages/cli/test/program.test.ts"])],
  ["packages/server/src/serve.ts", new Set(["test/e2e/server.test.ts"])],
]);

describe("a change is seen by", () => {
  test.each([
    {
      name: "what imports it, and what mirrors it and a command that uses it, not by all that start the program",
      changed: ["packages/machine/src/stage/layer.ts"],
      tests: [
        "packages/cli/test/commands/try/try.test.ts",
        "packages/machine/test/other.test.ts",
        "packages/machine/test/stage/layer.test.ts",
      ],
    },
    {
      name: "a test that changed itself, a long one too",
      changed: ["packages/machine/test/stage/slow.long.test.ts"],
      tests: ["packages/machine/test/stage/slow.long.test.ts"],
    },
    { name: "the tests around data", changed: ["test/corpus/cases/git.json"], tests: ["test/corpus/corpus.test.ts"] },
    {
      name: "the tests around data that is gone",
      changed: ["test/corpus/cases/gone/old.json"],
      tests: ["test/corpus/corpus.test.ts"],
    },
    {
      name: "what runs the page",
      changed: ["docs/rules.md"],
      tests: ["test/docs/links.test.ts", "test/docs/pages.test.ts"],
      pages: ["docs/rules.md"],
    },
    {
      name: "what runs the examples",
      changed: ["examples/client/client.ts"],
      tests: ["test/docs/examples.test.ts", "test/docs/pages.test.ts"],
    },
    {
      name: "all pages, when what runs them changed",
      changed: ["test/docs/pages.test.ts", "docs/rules.md"],
      tests: ["test/docs/links.test.ts", "test/docs/pages.test.ts"],
      pages: undefined,
    },
    { name: "none, when nothing tests it", changed: ["deploy/Containerfile"], tests: [] },
    { name: "none, when there is none", changed: [], tests: [] },
    ...["package.json", "pnpm-lock.yaml", "vitest.config.ts", "test/restored.setup.ts"].map((file) => ({
      name: `all, as ${file} is of all of them`,
      changed: [file],
      tests: undefined,
      pages: undefined,
    })),
  ])("$name", ({ changed, tests, ...rest }) => {
    const pages = "pages" in rest ? rest.pages : [];
    expect(testsThatSee(changed, files, importers)).toEqual({ tests, pages });
  });
});

describe("in this checkout", () => {
  const list = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  const here = list.split("\0").filter((file) => file !== "" && existsSync(join(root, file)));
  const named = importersIn(root, here);
  const seeing = (...changed: readonly string[]) => testsThatSee(changed, here, named).tests ?? [];

  test.each([
    ["through other packages", "packages/governance/src/rules/misspelt-key.ts", "packages/sessions/test/rules/"],
    ["in a program that they start", "test/crash/store/appending-process.ts", "test/crash/store/"],
    ["in a file that they read", "docs/operations.md", "test/e2e/telemetry/telemetry.test.ts"],
    [
      "in a component of the page",
      "packages/repl/src/chat/items/chat-row.tsx",
      "packages/repl/test/chat/chat-row.test.ts",
    ],
    ["in a package that they name by a subpath", "packages/testkit/src/token-issuer.ts", "test/e2e/users/"],
    ["in a script", "scripts/lib/tests/changed-tests.mjs", "test/runner/changed-tests.test.ts"],
  ])("tests see what changed %s", (_where, changed, test) => {
    expect(seeing(changed).some((each) => each.startsWith(test))).toBe(true);
  });

  test("a change of a part chooses few of the tests, whole ways with them", () => {
    const seen = seeing("packages/governance/src/ledger/verify-ledger.ts");
    expect(seen).toContain("packages/governance/test/ledger/verify-ledger.test.ts");
    expect(seen.filter((file) => file.startsWith("test/e2e/rpc/"))).toEqual(
      wholeWays.flatMap(({ tests }) => tests).filter((file) => file.startsWith("test/e2e/rpc/")),
    );
    expect(seen.length).toBeLessThan(here.filter((file) => file.endsWith(".test.ts")).length / 4);
  });

  test("what is named in the choice is there", () => {
    const wanted = [...lookingAtAll, ...wholeWays.flatMap(({ tests }) => tests)];
    expect(wanted.filter((file) => !here.includes(file))).toEqual([]);
  });
});
