import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "./run/page-home.ts";

test("the tree in the architecture names each package and its folders, and every name in it is there", () => {
  const page = readFileSync(join(repository, "docs/architecture.md"), "utf8");
  const [, tree = ""] = /\npackages\/\n(.*?)\n(?=\S)/s.exec(page) ?? [];
  const shown = namesIn(tree.split("\n"));
  const folders = globSync(["packages/*/src/", "packages/*/src/*/"], { cwd: repository, exclude: ["**/src/gen"] })
    .map((path) => path.replaceAll("\\", "/").replace(/^packages\/([^/]+)\/src\/?/, "$1/"))
    .map((path) => (path.endsWith("/") ? path : `${path}/`));
  expect(folders.length).toBeGreaterThan(100);
  expect(folders.filter((folder) => !shown.includes(folder))).toEqual([]);
  expect(shown.filter((name) => !existsSync(join(repository, inPackage(name))))).toEqual([]);
});

/**
 * The names in the lines of the tree, from the package on: `client/session/text/`, `client/session/turn.ts`. Names are at the
 * beginning of a line, two spaces apart; lines indented below belong to the last folder of that line.
 */
function namesIn(lines: readonly string[]): readonly string[] {
  const parents: string[] = [];
  return lines.flatMap((line) => {
    const [, indent = "", text = ""] = /^( *)(.*)$/.exec(line) ?? [];
    const depth = indent.length / 2 - 1;
    // What goes on from the line above is indented deeper than any name.
    const [names = ""] = /^(?:[\w-]+\/|[\w-]+\.tsx?)(?: {2}(?:[\w-]+\/|[\w-]+\.tsx?))*(?= |$)/.exec(text) ?? [];
    if (names === "") return [];
    const parent = depth === 0 ? "" : (parents[depth - 1] ?? "?/");
    const paths = names.split(/ +/).map((name) => `${parent}${name}`);
    parents[depth] = paths.findLast((path) => path.endsWith("/")) ?? "?/";
    return paths;
  });
}

function inPackage(name: string): string {
  return `packages/${name.replace("/", "/src/")}`;
}
