import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

interface Source {
  /** From `packages/` on. */
  readonly file: string;
  readonly text: string;
}

const packages = fileURLToPath(new URL("../../packages", import.meta.url));
const sources = globSync("*/src/**/*.{ts,tsx}", { cwd: packages })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => !file.includes("/gen/"))
  .map((file): Source => ({ file, text: readFileSync(join(packages, file), "utf8") }));

describe("folders of a package, its root included, each with its own files alone", () => {
  test("do not import each other in a circle, not even for a type", () => {
    expect(sources.length).toBeGreaterThan(1_500);
    expect(circles(sources, { types: true })).toEqual([]);
  });

  const there = { file: "p/src/a/one.ts", text: 'import { two } from "../b/two.ts";' };
  test.each<readonly [string, string, boolean]>([
    ["a circle", 'import {\n  one,\n} from "../a/one.ts";', true],
    ["one by what is loaded later", 'const { one } = await import("../a/one.ts");', true],
    ["one that a name makes again", 'export { one } from "../a/one.ts";', true],
    ["a type", 'import type { One } from "../a/one.ts";', false],
    ["another package", 'import { one } from "@gennai/p/a/one";', false],
  ])("finds %s", (_name, text, isFound) => {
    const back = { file: "p/src/b/two.ts", text };
    expect(circles([there, back], { types: false })).toEqual(isFound ? [["p/src/a", "p/src/b"]] : []);
  });

  test("finds one through the root, and one of types if asked", () => {
    const root = { file: "p/src/index.ts", text: 'import type { One } from "./a/one.ts";' };
    const up = { file: "p/src/a/one.ts", text: 'import type { Index } from "../index.ts";' };
    expect(circles([root, up], { types: false })).toEqual([]);
    expect(circles([root, up], { types: true })).toEqual([["p/src", "p/src/a"]]);
  });
});

/** Groups of folders that reach each other, sorted. */
function circles(all: readonly Source[], { types }: { readonly types: boolean }): readonly (readonly string[])[] {
  const imports = new Map<string, Set<string>>();
  for (const { file, text } of all) {
    const folder = dirname(file);
    const found = imports.get(folder) ?? new Set();
    imports.set(folder, found);
    for (const path of importsOf(text, types)) found.add(dirname(join(folder, path)));
  }
  const reached = new Map([...imports.keys()].map((folder) => [folder, reachedFrom(folder, imports)]));
  const groups = [...reached].map(([folder, others]) =>
    [folder, ...[...others].filter((other) => other !== folder && reached.get(other)?.has(folder) === true)].toSorted(),
  );
  const apart = new Map(groups.filter((group) => group.length > 1).map((group) => [group.join(), group]));
  return [...apart].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, group]) => group);
}

function importsOf(text: string, types: boolean): readonly string[] {
  const statements = text.matchAll(/^(?:import|export) (type )?(?:[^"';]*?from )?"(\.[^"]+\.tsx?)"/gm);
  const loaded = text.matchAll(/\bimport\("(\.[^"]+\.tsx?)"\)/g);
  return [
    ...[...statements].flatMap(([, type, path = ""]) => (type === undefined || types ? [path] : [])),
    ...[...loaded].map(([, path = ""]) => path),
  ];
}

function reachedFrom(start: string, imports: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const reached = new Set<string>();
  const waiting = [start];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const other of imports.get(folder) ?? []) {
      if (reached.has(other)) continue;
      reached.add(other);
      waiting.push(other);
    }
  }
  return reached;
}
