import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "./run/page-home.ts";

test("the list of decisions names each one once, with its date and title", () => {
  const directory = join(repository, "docs/decisions");
  const listed = readFileSync(join(directory, "README.md"), "utf8").match(/^- .*$/gm) ?? [];
  const expected = globSync("20*.md", { cwd: directory }).map((path) => {
    const name = basename(path);
    const [title = ""] = readFileSync(join(directory, path), "utf8").split("\n", 1);
    return `- ${name.slice(0, 10)} [${title.replace(/^# /, "")}](${name})`;
  });
  expect(expected.length).toBeGreaterThan(40);
  expect(listed.toSorted()).toEqual(expected.toSorted());
});
