import { expect, test } from "vitest";
import { sidesOfDiff } from "../../src/documents/unified-diff.ts";

const edit = "--- a/a.txt\n+++ b/a.txt\n@@ -2,2 +2,2 @@\n b\n-c\n+C\n@@ -5 +5,2 @@\n e\n+f\n";
const made = "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+x\n+y\n";
const gone = "--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-z\n";

test.each([
  {
    name: "of the whole file, where it is as the diff says",
    diff: edit,
    text: "a\nb\nc\nd\ne\n",
    sides: [{ path: "a.txt", before: "a\nb\nc\nd\ne\n", after: "a\nb\nC\nd\ne\nf\n" }],
  },
  {
    name: "of its own lines, where the file is another",
    diff: edit,
    text: "else\n",
    sides: [{ path: "a.txt", before: "b\nc\n⋯\ne", after: "b\nC\n⋯\ne\nf" }],
  },
  {
    name: "of several files, made and deleted ones among them",
    diff: made + gone,
    text: "z\n",
    sides: [
      { path: "new.txt", before: "", after: "x\ny" },
      { path: "old.txt", before: "z\n", after: "" },
    ],
  },
  { name: "of none that was cut", diff: edit.replace(" e\n+f\n", " e\n"), text: "a\n", sides: undefined },
  { name: "of no diff", diff: "… 400 lines", text: "a\n", sides: undefined },
])("the sides $name", async ({ diff, text, sides }) => {
  expect(await sidesOfDiff(diff, async () => text)).toEqual(sides);
});
