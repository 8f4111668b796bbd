import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "./run/page-home.ts";

test("the help of every command has an example of it, or, where it only holds others, of one of them", () => {
  const page = readFileSync(join(repository, "docs/reference/cli.md"), "utf8");
  const commands = page.split(/^## /m).slice(1);
  expect(commands.length).toBeGreaterThan(90);
  const without = commands.flatMap((section) => {
    const [words = ""] = section.split("\n", 1);
    const [, shown = ""] = /^Examples?:\n((?: {2}.*\n?)+)/m.exec(section) ?? [];
    return new RegExp(`^ {2}(?:.*[ |])?${words}\\b`, "m").test(shown) ? [] : [words];
  });
  expect(without).toEqual([]);
});
