import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { findCheck, findDecidingCommand } from "#context/detect-check";

const scripts = (...names: string[]) =>
  JSON.stringify({ scripts: Object.fromEntries(names.map((name) => [name, "anything"])) });

const compiler = { "node_modules/.bin/tsc": "" };

test.each<[string, Readonly<Record<string, string>>, string | undefined, string | undefined]>([
  ["nothing", {}, undefined, undefined],
  ["what is configured wins", { "package.json": scripts("typecheck") }, "make lint", "make lint"],
  [
    "a script that checks types before one that lints",
    { "package.json": scripts("lint", "typecheck") },
    undefined,
    "npm run typecheck",
  ],
  [
    "the package manager by its lock file",
    { "package.json": scripts("check"), "pnpm-lock.yaml": "" },
    undefined,
    "pnpm run check",
  ],
  [
    "a manifest that is not JSON",
    { "package.json": "{", "tsconfig.json": "{}", ...compiler },
    undefined,
    "node_modules/.bin/tsc --noEmit",
  ],
  [
    "scripts that check nothing",
    { "package.json": scripts("start"), "tsconfig.json": "{}", ...compiler },
    undefined,
    "node_modules/.bin/tsc --noEmit",
  ],
  ["TypeScript that is not installed", { "tsconfig.json": "{}" }, undefined, undefined],
  ["Rust", { "Cargo.toml": "" }, undefined, "cargo check"],
  ["Go", { "go.mod": "" }, undefined, "go vet ./..."],
  ["Python with ruff", { "pyproject.toml": "[tool.ruff]\n" }, undefined, "ruff check"],
  ["Python without", { "pyproject.toml": "[project]\n" }, undefined, undefined],
])("%s", async (_name, files, configured, wanted) => {
  await using directory = await temporaryDirectory();
  for (const [name, text] of Object.entries(files)) await directory.write(name, text);
  const found = await findCheck(directory.root, configured);
  expect(found?.command).toBe(wanted);
});

test.each<[string, Readonly<Record<string, string>>, string | undefined]>([
  ["the check before the tests", { "package.json": scripts("test", "lint") }, "npm run lint"],
  ["the tests where there is no check", { "package.json": scripts("test"), "yarn.lock": "" }, "yarn test"],
  [
    "no tests yet",
    { "package.json": '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}' },
    undefined,
  ],
  ["a manifest that is not JSON", { "package.json": "{" }, undefined],
])("between attempts decides: %s", async (_name, files, wanted) => {
  await using directory = await temporaryDirectory();
  for (const [name, text] of Object.entries(files)) await directory.write(name, text);
  expect(await findDecidingCommand(directory.root, " ")).toBe(wanted);
  expect(await findDecidingCommand(directory.root, "make it")).toBe("make it");
});

// A yes of a person's is wanted wherever a repository could have its own code run by being opened.
test.each<[Readonly<Record<string, string>>, boolean]>([
  [{ "package.json": scripts("check") }, true],
  [{ "tsconfig.json": "{}", ...compiler }, true],
  [{ "ruff.toml": "", "node_modules/.bin/ruff": "" }, true],
  [{ "Cargo.toml": "" }, true],
  [{ "pyproject.toml": "[tool.mypy]\nplugins = 'evil.py'\n" }, true],
  [{ "go.mod": "" }, false],
  [{ "ruff.toml": "" }, false],
])("%j: of the repository: %j", async (files, wanted) => {
  await using directory = await temporaryDirectory();
  for (const [name, text] of Object.entries(files)) await directory.write(name, text);
  expect((await findCheck(directory.root, undefined))?.fromRepository).toBe(wanted);
  expect((await findCheck(directory.root, "make lint"))?.fromRepository).toBe(true);
});
