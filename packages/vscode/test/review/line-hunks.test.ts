import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lineHunks, linesOf, placeSpans, withLines } from "../../src/review/line-hunks.ts";

const line = fc.constantFrom("a\n", "b\n", "c\n", "d\n", "\n");
const text = fc
  .tuple(fc.array(line, { maxLength: 14 }), fc.constantFrom("", "end"))
  .map(([lines, end]) => [...lines, ...(end === "" ? [] : [end])]);

/** An edit of a few lines somewhere. */
const edited = (lines: readonly string[]) =>
  fc
    .tuple(fc.nat(lines.length), fc.nat(2), fc.array(fc.constantFrom("user\n", "a\n"), { maxLength: 2 }))
    .map(([start, count, put]) => withLines(lines, { start, end: Math.min(lines.length, start + count) }, put));

test.each([
  { name: "nothing", text: "", lines: [] },
  { name: "no line feed at the end", text: "a\nb", lines: ["a\n", "b"] },
  { name: "line ends of Windows", text: "a\r\n\r\n", lines: ["a\n", "\n"] },
  { name: "a byte-order mark", text: "\uFEFFa\n", lines: ["a\n"] },
  { name: "carriage returns alone", text: "a\rb", lines: ["a\n", "b"] },
])("the lines of a text: $name", ({ text, lines }) => expect(linesOf(text)).toEqual(lines));

describe("hunks", () => {
  test.each([
    { name: "the same", old: ["a\n"], fresh: ["a\n"], hunks: [] },
    { name: "a new file", old: [], fresh: ["a\n", "b\n"], hunks: ["0-0:0-2"] },
    { name: "an emptied one", old: ["a\n"], fresh: [], hunks: ["0-1:0-0"] },
    { name: "a changed line", old: ["a\n", "b\n", "c\n"], fresh: ["a\n", "x\n", "c\n"], hunks: ["1-2:1-2"] },
    {
      name: "two places",
      old: ["a\n", "b\n", "c\n"],
      fresh: ["x\n", "b\n", "c\n", "d\n"],
      hunks: ["0-1:0-1", "3-3:3-4"],
    },
    { name: "the line feed at the end", old: ["a"], fresh: ["a\n"], hunks: ["0-1:0-1"] },
  ])("$name", ({ old, fresh, hunks }) => {
    const words = lineHunks(old, fresh).map(
      (hunk) => `${hunk.old.start}-${hunk.old.end}:${hunk.fresh.start}-${hunk.fresh.end}`,
    );
    expect(words).toEqual(hunks);
  });

  test("undoing every one gives the base, keeping every one gives the new text", () => {
    fc.assert(
      fc.property(text, text, (old, fresh) => {
        let undone: readonly string[] = fresh;
        let kept: readonly string[] = old;
        for (const hunk of lineHunks(old, fresh).toReversed()) {
          undone = withLines(undone, hunk.fresh, old.slice(hunk.old.start, hunk.old.end));
          kept = withLines(kept, hunk.old, fresh.slice(hunk.fresh.start, hunk.fresh.end));
        }
        expect(undone.join("")).toBe(old.join(""));
        expect(kept.join("")).toBe(fresh.join(""));
      }),
    );
  });

  test("of a file of 10,000 lines with 500 of them are found at once", () => {
    const old = Array.from({ length: 10_000 }, (_, index) => `line ${index}\n`);
    const fresh = old.map((each, index) => (index % 20 === 7 ? `changed ${index}\n` : each));
    const started = process.cpuUsage();
    expect(lineHunks(old, fresh)).toHaveLength(500);
    // Milliseconds of the processor: others may use it as well.
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(1000);
  });
});

describe("after an edit", () => {
  const before = ["a\n", "b\n", "c\n", "d\n"];
  test.each([
    { name: "nothing changed", span: [1, 2], now: before, placed: [1, 2] },
    { name: "lines came above", span: [1, 2], now: ["x\n", "y\n", ...before], placed: [3, 4] },
    { name: "a line came right above", span: [1, 2], now: ["a\n", "x\n", "b\n", "c\n", "d\n"], placed: [2, 3] },
    { name: "a line came right below", span: [1, 2], now: ["a\n", "b\n", "x\n", "c\n", "d\n"], placed: [1, 2] },
    { name: "a line above went", span: [2, 3], now: ["b\n", "c\n", "d\n"], placed: [1, 2] },
    { name: "the line changed", span: [1, 2], now: ["a\n", "B\n", "c\n", "d\n"], placed: undefined },
    { name: "a line came between", span: [1, 3], now: ["a\n", "b\n", "x\n", "c\n", "d\n"], placed: undefined },
    { name: "a place without lines", span: [1, 1], now: ["x\n", ...before], placed: [2, 2] },
    {
      name: "a place without lines was written to",
      span: [1, 1],
      now: ["a\n", "x\n", "b\n", "c\n", "d\n"],
      placed: undefined,
    },
    { name: "all is gone", span: [1, 2], now: [], placed: undefined },
  ])("$name", ({ span: [start = 0, end = 0], now, placed }) => {
    const found = placeSpans([{ start, end }], before, now)[0];
    expect(found === undefined ? undefined : [found.start, found.end]).toEqual(placed);
  });

  test("what is placed is the same lines, and taking it back changes nothing else", () => {
    const cases = fc
      .tuple(text, text)
      .chain(([old, fresh]) => fc.tuple(fc.constant(old), fc.constant(fresh), edited(fresh)));
    fc.assert(
      fc.property(cases, ([old, fresh, now]) => {
        const hunks = lineHunks(old, fresh);
        const spans = placeSpans(
          hunks.map((hunk) => hunk.fresh),
          fresh,
          now,
        );
        for (const [index, hunk] of hunks.entries()) {
          const span = spans[index];
          if (span === undefined) continue;
          expect(now.slice(span.start, span.end)).toEqual(fresh.slice(hunk.fresh.start, hunk.fresh.end));
          const undone = withLines(now, span, old.slice(hunk.old.start, hunk.old.end));
          expect(undone.slice(0, span.start)).toEqual(now.slice(0, span.start));
          const rest = now.slice(span.end);
          expect(undone.slice(undone.length - rest.length)).toEqual(rest);
        }
      }),
    );
  });
});
