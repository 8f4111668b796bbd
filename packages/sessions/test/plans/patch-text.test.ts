import { unifiedDiff } from "@gennai/machine/changes/unified-diff";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { patchText } from "#plans/plan-file";

const body = "@@ -1,2 +1,2 @@\n one\n-two\n+2\n";

describe("patchText", () => {
  test.each([
    ["a bare hunk", "one\ntwo\n", body, "one\n2\n"],
    ["headers of git", "one\ntwo\n", `diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n${body}`, "one\n2\n"],
    ["a new file", undefined, "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+new\n", "new\n"],
    ["CRLF in the patch", "one\ntwo\n", body.replaceAll("\n", "\r\n"), "one\n2\n"],
  ])("%s fits", (_name, old, patch, wanted) => {
    expect(patchText(old, patch, "f")).toEqual({ type: "text", text: wanted });
  });

  test.each([
    ["other content", "one\nthree\n", body, "does not fit"],
    ["no file", undefined, body, "no file"],
    ["a file where one is created", "x\n", "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+new\n", "exists"],
    ["another file's patch", "one\ntwo\n", `--- a/g\n+++ b/g\n${body}`, 'for "a/g"'],
    ["two files", "one\ntwo\n", `--- a/f\n+++ b/f\n${body}--- a/g\n+++ b/g\n${body}`, "exactly one file"],
    ["a deletion", "one\n", "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", "delete"],
    ["prose", "one\n", "please change one to two", "no hunk"],
    ["a broken hunk", "one\n", "@@ -1,9 +1 @@\n-one\n", "not a unified diff"],
  ])("%s is a conflict", (_name, old, patch, wanted) => {
    expect(patchText(old, patch, "f")).toEqual({ type: "conflict", reason: expect.stringContaining(wanted) });
  });

  test("applies every diff that is shown", () => {
    const lines = fc
      .array(fc.constantFrom("a", "b", "c", ""), { maxLength: 12 })
      .map((each) => each.map((line) => `${line}\n`).join(""));
    fc.assert(
      fc.property(lines, lines, (oldText, newText) => {
        fc.pre(oldText !== newText && newText !== "");
        const { text } = unifiedDiff({ path: "f", operation: "update", oldText, newText });
        expect(patchText(oldText, text, "f")).toEqual({ type: "text", text: newText });
      }),
    );
  });
});
