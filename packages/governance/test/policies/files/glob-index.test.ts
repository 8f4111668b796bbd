import fc from "fast-check";
import { expect, it } from "vitest";
import { globMatcher } from "#glob-matcher";
import { globIndex } from "#policies/files/path-lists";

const part = fc.constantFrom(
  "a",
  "A",
  "b",
  "src",
  ".env",
  "x.key",
  "x y",
  "ä",
  "Ä",
  "\u212a",
  "k",
  "\u017f",
  "s",
  "..",
  "c-1",
);
const glob = fc
  .array(
    fc.oneof(
      part,
      fc.constantFrom(
        "*",
        "**",
        "?",
        "*.key",
        "a*",
        "{a,b}",
        "[ab]",
        "!(a)",
        "a|b",
        "b/c|a",
        "(a|b)",
        "\\a",
        "+(a)",
        "@(a|b)",
      ),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((parts) => parts.join("/"));
const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));

it("matches what a matcher of all globs does", () => {
  fc.assert(
    fc.property(fc.array(glob, { minLength: 1, maxLength: 6 }), path, fc.boolean(), (globs, plain, isDirectory) => {
      const asked = isDirectory ? `${plain}/` : plain;
      const all = globMatcher(globs, { nocase: true });
      expect(globIndex(globs)(asked)).toBe(all(asked));
    }),
    { numRuns: 1_000 },
  );
});

it("takes a long s for an s", () => {
  const matches = globIndex(["**/s", "ssh/*"]);
  expect(["a/ſ", "ſſh/key", "a/K"].map(matches)).toEqual([true, true, false]);
});

it("finds the one of two thousand that is about the directory", () => {
  const globs = Array.from({ length: 2_000 }, (_, index) => `private/part-${index}/**/*.key`);
  const matches = globIndex(globs);
  expect(matches("private/part-7/deep/down/x.key")).toBe(true);
  expect(matches("PRIVATE/part-7/X.KEY")).toBe(true);
  expect(matches("private/part-2000/x.key")).toBe(false);
  expect(matches("src/x.key")).toBe(false);
});
