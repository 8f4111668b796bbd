import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const read = (path: string) => readFileSync(`${root}/${path}`, "utf8");

/** What one would type in a terminal, e.g. `gennai mcp`. */
const families = new Set([...read("docs/reference/cli.md").matchAll(/^## gennai ([a-z-]+)/gm)].map(([, name]) => name));
const typed = new RegExp(`gennai (?:${[...families].join("|")})\\b`, "g");

const shown = globSync(
  [
    "packages/vscode/package.json",
    "packages/vscode/walkthrough/*.md",
    "packages/{vscode,repl,client}/src/**/*.{ts,tsx}",
  ],
  { cwd: root },
  // Who opened the page has a terminal, and no editor around it.
).filter((path) => !path.includes("repl/src/hosts/page-"));

test("nothing that the editor shows sends its user to a terminal", () => {
  expect(families.size).toBeGreaterThan(15);
  expect(shown.length).toBeGreaterThan(300);
  const found = shown.flatMap((path) => {
    const withoutComments = read(path).replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, "");
    return [...withoutComments.matchAll(typed)].map(([words]) => `${path}: ${words}`);
  });
  expect(found).toEqual([]);
});
