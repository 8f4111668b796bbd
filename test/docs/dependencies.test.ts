import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { repository } from "./run/page-home.ts";

const page = "docs/decisions/2026-11-22-dependencies.md";

const versions = z.record(z.string(), z.string()).default({});
const manifestSchema = z.object({ dependencies: versions, devDependencies: versions, optionalDependencies: versions });

/** Every version that a package is named with, by its name; our own left out. */
function named(): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  const manifests = ["package.json", "{packages/*,test,examples/*}/package.json"];
  for (const path of globSync(manifests, { cwd: repository })) {
    const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(repository, path), "utf8")));
    for (const [name, version] of Object.values(manifest).flatMap((section) => Object.entries(section))) {
      if (version !== "workspace:*") found.set(name, (found.get(name) ?? new Set()).add(version));
    }
  }
  return found;
}

test("every dependency has its line, and no line is left of one that is gone", () => {
  const rows = readFileSync(join(repository, page), "utf8")
    .split("\n")
    .flatMap((line) => /^\| (`[^|]*) \|/.exec(line)?.[1] ?? []);
  const listed = rows.flatMap((row) => row.split(", ").map((name) => name.replaceAll("`", "").trim()));
  expect(listed.sort()).toEqual([...named().keys()].sort());
});

test("a version is pinned, and the same wherever the package is named", () => {
  const loose = [...named()].filter(
    ([, found]) => found.size > 1 || ![...found].every((each) => /^\d[\w.+-]*$/.test(each)),
  );
  expect(loose).toEqual([]);
});
