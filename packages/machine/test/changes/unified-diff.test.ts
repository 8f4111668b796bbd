import { applyPatch, parsePatch } from "diff";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { unifiedDiff } from "#changes/unified-diff";

const rows: readonly {
  readonly name: string;
  readonly operation?: "create" | "update" | "delete";
  readonly oldText: string;
  readonly newText: string;
  readonly want: string;
}[] = [
  {
    name: "a changed line",
    oldText: "a\nb\nc\n",
    newText: "a\nB\nc\n",
    want: "--- a/f.txt\n+++ b/f.txt\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n",
  },
  {
    name: "a new file",
    operation: "create",
    oldText: "",
    newText: "a\nb\n",
    want: "--- /dev/null\n+++ b/f.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n",
  },
  {
    name: "a deleted file",
    operation: "delete",
    oldText: "a\nb\n",
    newText: "",
    want: "--- a/f.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n",
  },
  { name: "nothing", oldText: "a\n", newText: "a\n", want: "--- a/f.txt\n+++ b/f.txt\n" },
  { name: "an empty new file", operation: "create", oldText: "", newText: "", want: "--- /dev/null\n+++ b/f.txt\n" },
  {
    name: "no newline at the end any more",
    oldText: "a\nb\n",
    newText: "a\nb",
    want: "--- a/f.txt\n+++ b/f.txt\n@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n",
  },
  {
    name: "a newline at the end at last",
    oldText: "a\nb",
    newText: "a\nb\n",
    want: "--- a/f.txt\n+++ b/f.txt\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n",
  },
  {
    name: "no newline on either side",
    oldText: "a\nb",
    newText: "A\nb",
    want: "--- a/f.txt\n+++ b/f.txt\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n",
  },
  {
    name: "two far edits make two hunks",
    oldText: "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
    newText: "one\n2\n3\n4\n5\n6\n7\n8\nnine\n",
    want: "--- a/f.txt\n+++ b/f.txt\n@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+nine\n",
  },
  {
    name: "two near edits share one",
    oldText: "1\n2\n3\n4\n5\n6\n7\n8\n",
    newText: "one\n2\n3\n4\n5\n6\n7\neight\n",
    want: "--- a/f.txt\n+++ b/f.txt\n@@ -1,8 +1,8 @@\n-1\n+one\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+eight\n",
  },
  {
    name: "CRLF stays in the lines",
    oldText: "a\r\nb\r\n",
    newText: "a\r\nc\r\n",
    want: "--- a/f.txt\n+++ b/f.txt\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n",
  },
  {
    name: "an insertion between equal lines",
    oldText: "foo\nbar\n",
    newText: "foo\nfoo\nbar\n",
    want: "--- a/f.txt\n+++ b/f.txt\n@@ -1,2 +1,3 @@\n foo\n+foo\n bar\n",
  },
];

describe("unifiedDiff", () => {
  test.each(rows)("$name", ({ operation = "update", oldText, newText, want }) => {
    expect(unifiedDiff({ path: "f.txt", operation, oldText, newText }).text).toBe(want);
  });

  const line = fc.oneof(
    fc.constantFrom("", "a", "b", "}", "  return x;", "ü", "\t", "x\r", "-- a", "+b", "\\ c", "@@ -1 +1 @@", "--- a/x"),
    fc.string({ maxLength: 6 }).map((text) => text.replaceAll("\n", "")),
  );
  const text = fc
    .tuple(fc.array(line, { maxLength: 40 }), fc.boolean())
    .map(([lines, complete]) => lines.join("\n") + (complete && lines.length > 0 ? "\n" : ""));
  /** A text and what some small edits make of it. */
  const edited = fc
    .tuple(
      fc.array(line, { maxLength: 120 }),
      fc.array(fc.tuple(fc.nat(130), fc.constantFrom("insert", "delete", "change"), line), { maxLength: 6 }),
      fc.boolean(),
      fc.boolean(),
    )
    .map(([lines, edits, oldEnd, newEnd]) => {
      const changed = [...lines];
      for (const [at, kind, content] of edits) {
        if (kind === "insert") changed.splice(at, 0, content);
        else changed.splice(at, 1, ...(kind === "delete" ? [] : [content]));
      }
      return [lines.join("\n") + (oldEnd ? "\n" : ""), changed.join("\n") + (newEnd ? "\n" : "")] as const;
    });

  test.each([0, 1, 3, 10])("applied, it gives the new text, and its hunks say the same (context %i)", (context) => {
    fc.assert(
      fc.property(fc.oneof(fc.tuple(text, text), edited), fc.constantFrom(0, 1000), ([oldText, newText], timeoutMs) => {
        const diff = unifiedDiff({ path: "f.txt", operation: "update", oldText, newText }, { context, timeoutMs });
        expect(applyPatch(oldText, diff.text, { autoConvertLineEndings: false })).toBe(newText);
        const parsed = parsePatch(diff.text)[0]?.hunks ?? [];
        expect(diff.hunks.map(({ lines }) => lines)).toEqual(
          parsed.map(({ lines }) => lines.filter((content) => !content.startsWith("\\"))),
        );
        expect(joinedByRanges(oldText, newText, diff.hunks)).toBe(newText);
        expect(new Set(diff.hunks.map(({ id }) => id)).size).toBe(diff.hunks.length);
      }),
      { numRuns: 400 },
    );
  });

  test("a comparison without time is coarser, not wrong", () => {
    const oldText = Array.from({ length: 3000 }, (_, index) => `${(index * 7919) % 13}`).join("\n");
    const newText = Array.from({ length: 3000 }, (_, index) => `${(index * 6007) % 17}`).join("\n");
    const diff = unifiedDiff({ path: "f.txt", operation: "update", oldText, newText }, { timeoutMs: 0 });
    expect(applyPatch(oldText, diff.text)).toBe(newText);
  });

  test("one edit in 5,000 lines does not look at all of them", () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `  const value${index} = compute(${index}, "some text");`);
    const oldText = lines.join("\n");
    lines[2500] = "changed";
    const newText = lines.join("\n");
    const run = () => unifiedDiff({ path: "f.txt", operation: "update", oldText, newText });
    for (let round = 0; round < 20; round += 1) run();
    const times = Array.from({ length: 21 }, () => {
      const start = process.cpuUsage();
      run();
      return process.cpuUsage(start).user / 1000;
    }).sort((a, b) => a - b);
    // The aim is 0.3 ms of the processor.
    expect(times[10]).toBeLessThan(3);
  });
});

function joinedByRanges(oldText: string, newText: string, hunks: ReturnType<typeof unifiedDiff>["hunks"]): string {
  const split = (text: string) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const oldLines = split(oldText);
  const newLines = split(newText);
  const parts: string[] = [];
  let at = 0;
  for (const { oldRange, newRange } of hunks) {
    const oldStart = oldRange.count === 0 ? oldRange.start : oldRange.start - 1;
    const newStart = newRange.count === 0 ? newRange.start : newRange.start - 1;
    parts.push(...oldLines.slice(at, oldStart), ...newLines.slice(newStart, newStart + newRange.count));
    at = oldStart + oldRange.count;
  }
  return [...parts, ...oldLines.slice(at)].join("");
}
