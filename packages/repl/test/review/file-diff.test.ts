import * as fc from "fast-check";
import { expect, it } from "vitest";
import { fileDiff } from "#review/file-diff";

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`);

it("shows what changed with three lines around it, under the numbers of both files", () => {
  const before = numbered(100);
  const after = before.toSpliced(49, 1, "changed\n", "more\n");
  const diff = fileDiff(before.join(""), after.join(""));
  expect([diff.added, diff.removed, diff.hunks.length]).toEqual([2, 1, 1]);
  const [rows = []] = diff.hunks;
  expect([rows[0]?.old?.number, rows[0]?.fresh?.number]).toEqual([47, 47]);
  expect([rows.at(-1)?.old?.number, rows.at(-1)?.fresh?.number]).toEqual([53, 54]);
});

it("parts changes that are far from each other, and joins those that are near", () => {
  const before = numbered(60);
  const far = before.toSpliced(9, 1, "a\n").toSpliced(39, 1, "b\n");
  expect(fileDiff(before.join(""), far.join("")).hunks).toHaveLength(2);
  const near = before.toSpliced(9, 1, "a\n").toSpliced(14, 1, "b\n");
  expect(fileDiff(before.join(""), near.join("")).hunks).toHaveLength(1);
});

it("counts one changed line of a long file as one", () => {
  const before = numbered(20_000);
  const { added, removed } = fileDiff(before.join(""), before.with(10_000, "changed\n").join(""));
  expect([added, removed]).toEqual([1, 1]);
});

it("counts no line that is the same, however many lie between two changes", () => {
  const before = numbered(12_000);
  const { added, removed, hunks } = fileDiff(before.join(""), before.with(2, "x\n").with(11_990, "y\n").join(""));
  expect([added, removed, hunks.length]).toEqual([2, 2, 2]);
  const other = before.map((line, index) => (index % 2 === 0 ? line : `other ${line}`));
  expect(fileDiff(before.join(""), other.join(""))).toMatchObject({ added: 6000, removed: 6000 });
  // No line is the only one of its kind.
  const same = Array.from({ length: 12_000 }, () => "same\n");
  expect(fileDiff(same.join(""), same.with(2, "x\n").with(11_990, "y\n").join(""))).toMatchObject({
    added: 2,
    removed: 2,
  });
});

it.each([
  ["", "a\nb\n", 2, 0],
  ["a\nb\n", "", 0, 2],
  ["a\n", "a", 1, 1],
  ["a\r\n", "a\n", 1, 1],
  ["same\n", "same\n", 0, 0],
  ["", "", 0, 0],
])("%j to %j", (before, after, added, removed) => {
  expect(fileDiff(before, after)).toMatchObject({ added, removed });
});

it("shows every changed line once, in order, whatever the texts are", () => {
  const text = fc
    .array(fc.constantFrom("a\n", "b\n", "c\n", "d\n", "\n"), { maxLength: 40 })
    .map((lines) => lines.join(""));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const { hunks, added, removed } = fileDiff(before, after);
      const rows = hunks.flat();
      const numbers = (side: "old" | "fresh") => rows.flatMap((row) => row[side]?.number ?? []);
      for (const side of ["old", "fresh"] as const) {
        expect(numbers(side)).toEqual([...new Set(numbers(side))].toSorted((one, other) => one - other));
      }
      // What is not shown is the same on both sides.
      const rest = (lines: readonly string[], shown: readonly number[]) =>
        lines.filter((_, index) => !shown.includes(index + 1));
      const lines = (all: string) => all.match(/[^\n]*\n/g) ?? [];
      expect(rest(lines(before), numbers("old"))).toEqual(rest(lines(after), numbers("fresh")));
      expect(added - removed).toBe(lines(after).length - lines(before).length);
    }),
  );
});
