import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { wordsInEditor } from "../../../src/session/text/words-in-editor.ts";

test.each([
  [
    "A person lifts it: gennai emergency stop-all off --reason …",
    "A person lifts it: the emergency controls of the Governance panel",
  ],
  [
    "Look at gennai emergency status, and try again.",
    "Look at the emergency controls of the Governance panel, and try again.",
  ],
  ["gennai mcp accept units", "the MCP servers of the Governance panel"],
  [
    "`gennai answers` lists such answers.",
    "the list of answers that stand in the Governance panel lists such answers.",
  ],
  [
    "in VS Code, or gennai stage keep dist/app. Then",
    "in VS Code, or “Gennai: Keep What Git Ignores…” of VS Code. Then",
  ],
  ["accepts the loss: gennai doctor says what", "accepts the loss: the server's own check of its machine says what"],
  ["Gennai opens a panel; gennai is there.", "Gennai opens a panel; gennai is there."],
  ["the file gennai open-me.txt", "the file gennai open-me.txt"],
])("%s", (said, shown) => {
  expect(wordsInEditor(said)).toBe(shown);
});

const root = fileURLToPath(new URL("../../../../..", import.meta.url));
const families = [
  ...new Set(
    [...readFileSync(`${root}/docs/reference/cli.md`, "utf8").matchAll(/^## gennai ([a-z-]+)/gm)].map(
      ([, name]) => name,
    ),
  ),
];
/** What only a command line prints, and what a model reads, which does not know where its user is. */
const onlyForTerminals =
  /\/(policy-workbench|page)\/|(?:machine|stage|state|log|config|installation)-checks?\.ts$|ways-to-keep/;

test("no hint of a server reaches an editor with a command to type", () => {
  const typed = new RegExp(`gennai (?:${families.join("|")})\\b[^\\n]{0,20}`, "g");
  const sources = globSync("packages/!(client|cli|repl|vscode|acp|ledger-page|testkit|protocol)/src/**/*.ts", {
    cwd: root,
  });
  expect(sources.length).toBeGreaterThan(400);
  const found = sources
    .filter((path) => !onlyForTerminals.test(path))
    .flatMap((path) => {
      const code = readFileSync(`${root}/${path}`, "utf8").replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, "");
      return [...wordsInEditor(code).matchAll(typed)].map(([words]) => `${path}: ${words}`);
    });
  expect(found).toEqual([]);
});
