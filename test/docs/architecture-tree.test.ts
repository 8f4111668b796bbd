import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "./run/page-home.ts";

test("the tree in the architecture names each package on one screen, and every folder in it is there", () => {
  const page = readFileSync(join(repository, "docs/architecture.md"), "utf8");
  const [, tree = ""] = /\npackages\/\n(.*?)\n(?=\S)/s.exec(page) ?? [];
  const lines = tree.split("\n");
  const packages = lines.flatMap((line) => /^ {2}([\w-]+)\/ /.exec(line)?.[1] ?? []);
  const present = readdirSync(join(repository, "packages")).filter((name) =>
    existsSync(join(repository, "packages", name, "package.json")),
  );
  expect(packages.toSorted()).toEqual(present.toSorted());
  const folders = lines.flatMap((line) => {
    const [, owner = "", rest = ""] = /^ {2}([\w-]+)\/ (.*)$/.exec(line) ?? [];
    return [...rest.matchAll(/(?<=^|\s)([\w-]+)\/(?=[\s:;,]|$)/g)].map(
      ([, folder]) => `packages/${owner}/src/${folder}`,
    );
  });
  expect(folders.length).toBeGreaterThan(50);
  expect(folders.filter((folder) => !existsSync(join(repository, folder)))).toEqual([]);
  expect(lines.length).toBeLessThan(30);
});
