import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { editorErrors } from "@gennai/protocol/errors/editor-errors";
import type { ErrorMeanings } from "@gennai/protocol/errors/error-meaning";
import { gateErrors } from "@gennai/protocol/errors/gate-errors";
import { requestErrors } from "@gennai/protocol/errors/request-errors";
import { startErrors } from "@gennai/protocol/errors/start-errors";
import { toolErrors } from "@gennai/protocol/errors/tool-errors";
import { turnErrors } from "@gennai/protocol/errors/turn-errors";
import { expect, test } from "vitest";
import { repository } from "./run/page-home.ts";

const groups: Readonly<Record<string, ErrorMeanings>> = {
  editorErrors,
  gateErrors,
  requestErrors,
  startErrors,
  toolErrors,
  turnErrors,
};
const known: ReadonlySet<string> = new Set(Object.values(groups).flatMap((group) => Object.keys(group)));

const sources = globSync("packages/*/src/**/*.ts", { cwd: repository })
  .filter((path) => !/packages\/protocol\/src\/(errors|gen)\//.test(path))
  .map((path) => ({ path, text: readFileSync(join(repository, path), "utf8") }));

/** Where codes are made, besides those whose type says so: findings of rules, reasons of refused requests, errors with a code. */
const made = [
  /\b(?:deny|ask)\(\{\s*code: "([a-z_]+)"/g,
  /\bcode: "([a-z_]+)",\s*rule: /g,
  /new (?:Service|Store|Token|Workspace|Checkpoint|Mcp)Error\([^;]*?\breason: "([a-z_]+)"/g,
  /new (?:Service|Store|Token|Workspace|Checkpoint)Error\(\s*"([a-z_]+)"/g,
  /\bplanRefusal\(\s*"([a-z_]+)"/g,
  /\bfailed\(\s*"([a-z_]+)"/g,
];

test("every code that is made is written down, with what it means and what to do next", () => {
  const unknown = sources.flatMap(({ path, text }) =>
    made.flatMap((pattern) =>
      [...text.matchAll(pattern)].flatMap(([, code = ""]) => (known.has(code) ? [] : [`${path}: ${code}`])),
    ),
  );
  expect(unknown).toEqual([]);
});

test("every code that is written down is made somewhere", () => {
  const all = sources.map(({ text }) => text).join("\n");
  const isMade = (code: string) => all.includes(`"${code}"`) || all.includes(`"${code.replace(/^model_/, "")}"`);
  expect([...known].filter((code) => !isMade(code))).toEqual([]);
});

test("what an error says to type is a command", () => {
  const reference = readFileSync(join(repository, "docs/reference/cli.md"), "utf8");
  const typed = Object.values(groups).flatMap((group) =>
    Object.values(group).flatMap(({ next }) => [...next.matchAll(/`gennai ((?:[a-z][a-z-]*)(?: [a-z][a-z-]*)?)/g)]),
  );
  const missing = typed.flatMap(([, words = ""]) => {
    const [command = ""] = words.split(" ");
    const isThere = [words, command].some((each) => reference.includes(`\n## gennai ${each}\n`));
    return isThere ? [] : [words];
  });
  expect(typed.length).toBeGreaterThan(5);
  expect(missing).toEqual([]);
});
