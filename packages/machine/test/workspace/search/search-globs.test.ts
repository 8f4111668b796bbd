import { expect, test } from "vitest";
import { expandBraces, matchesName } from "#workspace/search/name-glob";
import { excludeParameters } from "#workspace/search/search-globs";

test.each([
  ["*", "", true],
  ["*.log", "a.log", true],
  ["*.log", "a.logs", false],
  ["*.LOG", "a.log", true],
  ["a?c", "abc", true],
  ["a?c", "ac", false],
  ["[a-c]x", "bx", true],
  ["[!a-c]x", "bx", false],
  ["[^a-c]x", "dx", true],
  ["[]a]x", "]x", true],
  ["[x", "[x", true],
  ["\\*", "*", true],
  ["\\*", "a", false],
  ["a*b*c", "a-b-b-c", true],
  ["a*b*c", "a-b-b-d", false],
])("%s and %s: %s", (glob, name, matches) => {
  expect(matchesName(glob, name)).toBe(matches);
});

test("a glob made to be slow is not", () => {
  const start = process.cpuUsage();
  expect(matchesName(`${"*a".repeat(100)}b`, "a".repeat(255))).toBe(false);
  expect(process.cpuUsage(start).user / 1000).toBeLessThan(1_000);
});

test("braces", () => {
  expect([...(expandBraces("{a,b/{c,d}}.ts") ?? [])].sort()).toEqual(["a.ts", "b/c.ts", "b/d.ts"]);
  expect(expandBraces("{a,b}".repeat(20))).toBeUndefined();
});

test.each([
  [".env", ["src"], [".env"]],
  ["*.{pem,key}", ["src"], ["*.key", "*.pem"]],
  ["secrets/", ["src"], ["secrets/"]],
  ["secrets/", ["src", "secrets"], ["*"]],
  ["src/private/**", [], ["/src/private/**"]],
  ["src/private/**", ["src"], ["/private/**"]],
  ["/src/private/", ["src"], ["/private/"]],
  ["src/private/**", ["docs"], []],
  ["src/**", ["src"], ["/**"]],
  ["src/**", ["src", "deep"], ["*", "/**"]],
  ["src/", ["src", "deep"], ["*"]],
  ["**/private/x", ["src"], ["/**/private/x"]],
  ["{src,docs}/x", ["docs"], ["/x"]],
  ["{src/a,docs/b}", ["docs"], ["/b"]],
  ["s?c/x", ["SRC"], ["/x"]],
  ["!keep", ["src"], []],
  ["", ["src"], []],
  ["{a,b}".repeat(20), ["src"], ["*"]],
])("excluding %s means in %j", (glob, base, wanted) => {
  expect(excludeParameters([glob], base).sort()).toEqual(wanted.map((rebased) => `--iglob=!${rebased}`).sort());
});
