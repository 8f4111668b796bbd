import fc from "fast-check";
import { expect, test } from "vitest";
import { mergedText } from "#diff/three-way-diff";

const text = fc
  .array(fc.constantFrom("a", "b", "c", "d", ""), { maxLength: 12 })
  .map((lines) => lines.map((line) => `${line}\n`).join(""));

test("what only one side changed is that side's text, and what both made the same is that", () => {
  fc.assert(
    fc.property(text, text, (base, other) => {
      expect(mergedText({ base, mine: base, theirs: other })).toBe(other);
      expect(mergedText({ base, mine: other, theirs: base })).toBe(other);
      expect(mergedText({ base, mine: other, theirs: other })).toBe(other);
    }),
  );
});

test("it does not matter whose side is whose", () => {
  fc.assert(
    fc.property(text, text, text, (base, mine, theirs) => {
      expect(mergedText({ base, mine, theirs })).toBe(mergedText({ base, mine: theirs, theirs: mine }));
    }),
  );
});

const rows = [
  {
    name: "far apart",
    base: "1\n2\n3\n4\n5\n",
    mine: "one\n2\n3\n4\n5\n",
    theirs: "1\n2\n3\n4\nfive\n",
    merged: "one\n2\n3\n4\nfive\n",
  },
  { name: "the same line", base: "1\n2\n", mine: "one\n2\n", theirs: "uno\n2\n", merged: undefined },
  { name: "a change and a removal", base: "1\n2\n3\n", mine: "1\ntwo\n3\n", theirs: "1\n3\n", merged: undefined },
  {
    name: "no line end at the end",
    base: "1\n2\n3",
    mine: "0\n1\n2\n3",
    theirs: "1\n2\n3\n4",
    merged: "0\n1\n2\n3\n4",
  },
];

test.each(rows)("both sides changed: $name", ({ merged, ...texts }) => {
  expect(mergedText(texts)).toBe(merged);
});
