import fc from "fast-check";
import { expect, test } from "vitest";
import { minimalEdits } from "../../src/apply/minimal-edits.ts";
import { withEdits } from "../fake-files.ts";

const line = fc.oneof(
  fc.constantFrom("a", "b", "c", "same", "", "😀", "😁"),
  fc.string({ maxLength: 5, unit: "binary" }),
);
const text = fc
  .array(fc.tuple(line, fc.constantFrom("\n", "\r\n", "")), { maxLength: 12 })
  .map((lines) => lines.map((parts) => parts.join("")).join(""));

test("applying the edits gives the new text; they ascend and do not touch", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const edits = minimalEdits(before, after);
      expect(withEdits(before, edits)).toBe(after);
      for (const [index, edit] of edits.entries()) {
        expect(edit.start).toBeLessThanOrEqual(edit.end);
        expect(edit.start).toBeGreaterThanOrEqual(edits[index - 1]?.end ?? 0);
        for (const at of [edit.start, edit.end]) expect(cutsCharacter(before, at)).toBe(false);
      }
    }),
    { numRuns: 500 },
  );
});

test.each([
  ["nothing", "a\nb\n", "a\nb\n", []],
  ["one word", "let a = 1;\nlet b = 2;\n", "let a = 1;\nlet b = 3;\n", [{ start: 19, end: 20, text: "3" }]],
  [
    "two places",
    "a\nb\nc\nd\n",
    "A\nb\nc\nD\n",
    [
      { start: 0, end: 1, text: "A" },
      { start: 6, end: 7, text: "D" },
    ],
  ],
  ["a line more", "a\nc\n", "a\nb\nc\n", [{ start: 2, end: 2, text: "b\n" }]],
  ["a line less", "a\nb\nc\n", "a\nc\n", [{ start: 2, end: 4, text: "" }]],
  ["half of a pair stays whole", "😀", "😁", [{ start: 0, end: 2, text: "😁" }]],
])("%s", (_, before, after, edits) => {
  expect(minimalEdits(before, after)).toEqual(edits);
});

test("a large text with one change is quick and small", () => {
  const lines = Array.from({ length: 50_000 }, (_, index) => `line ${index}\n`);
  const before = lines.join("");
  lines[25_000] = "changed\n";
  const began = process.cpuUsage();
  expect(minimalEdits(before, lines.join(""))).toHaveLength(1);
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(1000);
});

function cutsCharacter(value: string, at: number): boolean {
  return /\r$/.test(value.slice(0, at)) && /^\n/.test(value.slice(at))
    ? true
    : /[\ud800-\udbff]$/.test(value.slice(0, at)) && /^[\udc00-\udfff]/.test(value.slice(at));
}
