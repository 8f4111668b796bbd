import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changedBlocks, followEdits, type LineSpan } from "#changes/changed-blocks";
import { changedText, editableText, fileBytes } from "#changes/editable-text";
import { nearestMatch } from "#changes/fit/nearest-match";
import { replaceText } from "#changes/replace-text";
import { spliceText } from "#changes/splice-text";

const lineText = fc.constantFrom("", "a", "b", "ab", "}", "über", "\t");
const plainText = fc.array(lineText, { maxLength: 30 }).map((lines) => lines.join("\n"));

const splices = fc
  .tuple(
    plainText,
    fc.array(fc.tuple(fc.nat(40), fc.nat(8), fc.constantFrom("", "x", "\n", "a\nb\n", "}\n")), { maxLength: 5 }),
  )
  .map(([text, wishes]) => {
    const result: { start: number; end: number; text: string }[] = [];
    let from = 0;
    for (const [skip, length, replacement] of wishes) {
      const start = Math.min(text.length, from + skip);
      const end = Math.min(text.length, start + length);
      // Two splices at one place have no order.
      if (result.length > 0 && start === from) break;
      result.push({ start, end, text: replacement });
      from = end;
    }
    return { text, splices: result };
  });

test("spliceText: gives the spliced text, and edits that turn the old lines into the new ones", () => {
  fc.assert(
    fc.property(splices, ({ text, splices }) => {
      let want = "";
      let at = 0;
      for (const splice of splices) {
        want += text.slice(at, splice.start) + splice.text;
        at = splice.end;
      }
      want += text.slice(at);
      const spliced = spliceText(text, splices);
      expect(spliced.text).toBe(want);
      const split = (value: string) => value.match(/[^\n]*\n|[^\n]+$/g) ?? [];
      const lines: string[] = split(text);
      const newLines = split(want);
      for (const edit of [...spliced.edits].reverse()) {
        lines.splice(
          edit.oldStart - 1,
          edit.oldCount,
          ...newLines.slice(edit.newStart - 1, edit.newStart - 1 + edit.newCount),
        );
      }
      expect(lines.join("")).toBe(want);
    }),
    { numRuns: 1000 },
  );
});

describe("changed blocks", () => {
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

  test("follow later edits", () => {
    const first: readonly LineSpan[] = followEdits([], [{ oldStart: 10, oldCount: 1, newStart: 10, newCount: 2 }]);
    const second = followEdits(first, [{ oldStart: 3, oldCount: 1, newStart: 3, newCount: 4 }]);
    expect(second).toEqual([
      { start: 3, count: 4 },
      { start: 13, count: 2 },
    ]);
    const third = followEdits(second, [{ oldStart: 5, oldCount: 9, newStart: 5, newCount: 1 }]);
    expect(third).toEqual([{ start: 3, count: 4 }]);
  });

  test("hash the lines without the last line end, wherever they stand", () => {
    const spans = [{ start: 2, count: 2 }];
    const want = [{ startLine: 2, endLine: 3, sha256: sha256("b\nc") }];
    expect(changedBlocks("a\nb\nc\nd\n", spans)).toEqual(want);
    expect(changedBlocks("a\nb\nc", spans)).toEqual(want);
    expect(changedBlocks("a\r\nb\r\nc\r\n", spans)).toEqual(want);
    expect(changedBlocks("a\n", [{ start: 1, count: 0 }])).toEqual([]);
  });
});

describe("editable text", () => {
  const bytesOf = (text: string) => new TextEncoder().encode(text);

  test("gives back the same bytes, whatever the line ends", () => {
    const text = fc
      .array(fc.tuple(lineText, fc.constantFrom("\n", "\r\n", "\r\r\n", "\r")), { maxLength: 20 })
      .map((lines) => lines.map(([line, end]) => line + end).join(""));
    fc.assert(
      fc.property(text, fc.boolean(), (content, bom) => {
        const bytes = bytesOf((bom ? "\uFEFF" : "") + content);
        const editable = editableText(bytes);
        expect(editable).toBeDefined();
        if (editable !== undefined) expect(fileBytes(editable)).toEqual(bytes);
      }),
    );
  });

  test.each([
    ["CRLF stays", "a\r\nb\r\nc\r\n", "b", "x\ny", "a\r\nx\r\ny\r\nc\r\n"],
    ["LF stays", "a\nb\n", "b", "x\ny", "a\nx\ny\n"],
    ["mixed: others stay, new lines are like the one before", "a\r\nb\nc\r\nd\n", "b", "x\ny", "a\r\nx\ny\nc\r\nd\n"],
    ["mixed: lines between two changed ones stay", "a\nb\r\nc\nd\r\n", "a\nb\nc\n", "A\nb\nC\n", "A\nb\r\nC\nd\r\n"],
    ["mixed: a deleted line", "a\r\nb\nc\r\nd\n", "b\n", "", "a\r\nc\r\nd\n"],
    ["mixed: the last line without an end", "a\r\nb\nc", "c", "c\nd", "a\r\nb\nc\nd"],
    ["a mark stays", "\uFEFFa\nb", "a", "x", "\uFEFFx\nb"],
    ["a lone CR is text", "a\rb\nc\n", "c", "x", "a\rb\nx\n"],
  ])("%s", (_name, before, oldText, newText, want) => {
    const editable = editableText(bytesOf(before));
    if (editable === undefined) throw new Error("not a text");
    const replaced = replaceText(editable.text, { oldText, newText, replaceAll: false }, "f");
    const bytes = fileBytes(changedText(editable, replaced.text, replaced.edits));
    expect(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)).toBe(want);
  });
});

describe("nearestMatch", () => {
  const text =
    "import a;\n\nfunction add(one, two) {\n  return one + two;\n}\n\nfunction sub(one, two) {\n\treturn one - two;\n}\n";
  test.each([
    [
      "white space",
      "function sub(one, two) {\n  return one - two;\n}",
      /begins at line 7; line 8 differs only in white space/,
    ],
    ["one changed line", "function add(one, two) {\n  return one * two;\n}", /begins at line 3; line 4 differs:/],
    ["line numbers", "3\tfunction add(one, two) {", /Leave out the line numbers/],
    ["a single line", "function add(one, two, three) {", /line 3 differs/],
    ["nothing alike", "class Zebra extends Horse", /Nothing in the file looks like it/],
  ])("%s", (_name, wanted, hint) => {
    expect(nearestMatch(text, wanted)).toMatch(hint);
  });
});
