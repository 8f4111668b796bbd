import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { requirements } from "./requirements.ts";

const root = join(import.meta.dirname, "../..");

/** The titles of tests are where requirements are cited: `it("seed 003 §2.1: …")`. */
const citations = testFiles()
  .map((file) => readFileSync(join(root, file), "utf8"))
  .join("\n");

describe("requirements", () => {
  it("have ids of their own", () => {
    expect(new Set(requirements.map(({ id }) => id)).size).toBe(requirements.length);
  });

  it.each(requirements)("$id is cited by a test: $sentence", ({ id }) => {
    expect(citations.includes(`${id}:`) || citations.includes(`${id},`)).toBe(true);
  });

  it("are the only ones that tests cite", () => {
    const known = new Set(requirements.map(({ id }) => id));
    const cited = [...citations.matchAll(/["'`](seed 00[0134] [^:,"'`]+)[:,]/g)].map(([, id]) => id ?? "");
    expect(cited.filter((id) => !known.has(id))).toEqual([]);
  });
});

/** Without `node_modules`: links there lead from package to package in circles. */
function testFiles(): readonly string[] {
  return globSync("{test,packages/*/test}/**/*.test.ts", {
    cwd: root,
    exclude: ["**/node_modules/**", "test/requirements/**"],
  });
}
