import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "./run/page-home.ts";

/** What people read, copy or are told. */
const texts = globSync(
  ["*.md", "{docs,examples,deploy}/**/*", "packages/*/{README.md,package.json}", "{packages/*/src,release}/**/*"],
  { cwd: repository, exclude: ["**/node_modules/**", "**/dist/**"], withFileTypes: true },
)
  .filter((entry) => entry.isFile() && /\.(?:md|ya?ml|json|[cm]?[jt]sx?|sh)$/.test(entry.name))
  .map((entry) => join(entry.parentPath, entry.name));

/** A package manager that is given Gennai's name, and no file. */
const byName =
  /\b(?:(?:npm|pnpm|yarn|bun) +(?:i|install|add|x|exec|dlx|global add)|npx|pnpx|bunx)\b[^\n;&|`]*[ "'](?:gennai|@gennai\/[\w-]+)(?:@[\w.^~-]+)?(?=[\s"'`]|$)/gm;

test.each([
  ["npm install --global gennai", true],
  ["npm i -g gennai@latest", true],
  ["npx --yes gennai run", true],
  ["pnpm dlx gennai", true],
  ["npm install --global ./gennai-0.2.0.tgz", false],
  ["npm install left-pad && gennai run", false],
])("%s takes it from a registry: %s", (command, does) => {
  expect(command.match(byName) !== null).toBe(does);
});

// No public registry has it: whoever takes the name would run code beside the reader's keys.
test("nothing says to install Gennai by name", () => {
  expect(texts.length).toBeGreaterThan(500);
  const said = texts.flatMap(
    (path) =>
      readFileSync(path, "utf8")
        .match(byName)
        ?.map((text) => [path, text]) ?? [],
  );
  expect(said).toEqual([]);
});
