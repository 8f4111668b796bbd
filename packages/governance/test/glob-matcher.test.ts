import fc from "fast-check";
import { expect, test } from "vitest";
import { globMatcher } from "../src/glob-matcher.ts";

test.for([
  ["*\\\\\\\\", "a\\\\", true],
  ["*\\\\\\\\", "a\\", false],
  ["*\\\\", "a\\", true],
  ["*\\\\\\", "a\\\\", true],
  ["a", "b", false],
] as const)("%j matches %j: %s", ([glob, text, is]) => {
  expect(globMatcher(glob)(text)).toBe(is);
  expect(globMatcher(["none", glob])(text)).toBe(is);
});

test("ends, whatever the glob", () => {
  const glob = fc.string({ unit: fc.constantFrom(..."a*?[](){}!@+|,./\\"), minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(glob, (each) => {
      expect(typeof globMatcher(each, { dot: true, nocase: true })("a/b")).toBe("boolean");
    }),
    { numRuns: 5_000 },
  );
});
