import { applyReview, checkHunks, type HunkDecision } from "@gennai/protocol/apply-review";
import { splitLines } from "@gennai/protocol/diff/line-edit";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import { structuredPatch } from "diff";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { diffRows, lineParts, linesIn } from "#review/diff-rows";
import { textForField, textFromField } from "#review/hunk-edit";

/** Hunks as a server makes them: ranges count lines, an empty one names the line before. */
function hunksOf(base: string, fresh: string): ProposedChange["hunks"] {
  const plain = (text: string) => text.replaceAll("\r\n", "\n");
  return structuredPatch("a", "a", plain(base), plain(fresh), "", "", { context: 1 }).hunks.map((hunk, index) => ({
    id: `h${index}`,
    oldRange: { start: hunk.oldStart - (hunk.oldLines === 0 ? 1 : 0), count: hunk.oldLines },
    newRange: { start: hunk.newStart - (hunk.newLines === 0 ? 1 : 0), count: hunk.newLines },
    lines: hunk.lines.filter((line) => !line.startsWith("\\")),
  }));
}

const line = fc.constantFrom("a", "b", "c", "  d", "", "\u202E", "é");
const text = (ending: string) =>
  fc
    .tuple(fc.array(line, { maxLength: 12 }), fc.boolean())
    .map(([lines, closed]) => lines.join(ending) + (closed && lines.length > 0 ? ending : ""));
const pair = fc.constantFrom("\n", "\r\n").chain((ending) => fc.tuple(text(ending), text(ending)));

describe("a hunk that goes through a field", () => {
  test("comes back as the same bytes when nothing was typed", () => {
    fc.assert(
      fc.property(pair, ([base, fresh]) => {
        const hunks = hunksOf(base, fresh);
        const change = { operation: "update", path: "a", hunks } as const;
        const kept = new Map<string, HunkDecision>(hunks.map(({ id }) => [id, { type: "keep" }]));
        const edited = new Map<string, HunkDecision>(
          hunks.map(({ id, newRange }) => {
            const lines = linesIn(splitLines(fresh), newRange);
            return [id, { type: "edited", text: textFromField(textForField(lines) ?? "", lines) }];
          }),
        );
        expect(applyReview(base, fresh, change, edited)).toEqual(applyReview(base, fresh, change, kept));
      }),
    );
  });

  test("keeps the line endings of the lines that were left alone", () => {
    const lines = ["one\r\n", "two\n", "three\r\n"];
    expect(textFromField("one\ntwo\nnew\nthree\n", lines)).toBe("one\r\ntwo\nnew\nthree\r\n");
    expect(textFromField("one\nnew\ntwo\nthree\n", lines)).toBe("one\r\nnew\r\ntwo\nthree\r\n");
  });

  test.each([
    { name: "a carriage return of its own", lines: ["a\rb\n"] },
    { name: "a null", lines: ["a\0\n"] },
  ])("is not offered with $name", ({ lines }) => expect(textForField(lines)).toBeUndefined());
});

describe("the rows of a difference", () => {
  test("hold all lines of both sides, in their order", () => {
    fc.assert(
      fc.property(pair, ([base, fresh]) => {
        const rows = diffRows(splitLines(base), splitLines(fresh), 1, 1);
        const side = (which: "old" | "fresh") =>
          rows.map((row) => (row[which] === undefined ? "" : row[which].text + row[which].ending)).join("");
        expect({ old: side("old"), fresh: side("fresh") }).toEqual({ old: base, fresh });
      }),
    );
  });

  test("mark parts that join to the lines again", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (old, fresh) => {
        const parts = lineParts(old, fresh);
        const joined = {
          old: parts.old.map((part) => part.text).join(""),
          fresh: parts.fresh.map((part) => part.text).join(""),
        };
        expect(joined).toEqual({ old, fresh });
      }),
    );
  });

  test("fit the texts that they were made from, and no others", () => {
    fc.assert(
      fc.property(pair, ([base, fresh]) => {
        checkHunks(base, fresh, { path: "a", hunks: hunksOf(base, fresh) });
      }),
    );
    const [base, fresh] = ["a\nb\nc\nd\ne\n", "a\nb\nx\nd\ne\n"];
    const change = { path: "a", hunks: hunksOf(base, fresh) };
    expect(() => checkHunks(base, `${fresh}more\n`, change)).toThrow("do not fit");
    expect(() => checkHunks(base, fresh.replace("a", "z"), change)).toThrow("do not fit");
  });
});
