import { existsSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { expect, test } from "vitest";
import { pages } from "./pages.ts";
import { repository } from "./run/page-home.ts";

test.each([...pages])("the links of %s lead somewhere", (path, { links }) => {
  const broken = links.filter(({ target }) => !leadsSomewhere(path, target));
  expect(broken).toEqual([]);
});

function leadsSomewhere(from: string, target: string): boolean {
  // No test asks the internet.
  if (/^https?:\/\//.test(target)) return URL.canParse(target);
  const [file = "", anchor] = target.split("#");
  const path = file === "" ? from : normalize(join(dirname(from), file));
  if (relative(repository, join(repository, path)).startsWith("..") || !existsSync(join(repository, path)))
    return false;
  return anchor === undefined || pages.get(path)?.anchors.has(anchor) === true;
}

test("the reference is reached from the front page, and so is every guide", () => {
  const reached = new Set(["README.md"]);
  for (const path of reached) {
    for (const { target } of pages.get(path)?.links ?? []) {
      const to = normalize(join(dirname(path), target.split("#")[0] ?? ""));
      if (pages.has(to)) reached.add(to);
    }
  }
  expect([...pages.keys()].filter((path) => !reached.has(path))).toEqual([]);
});
