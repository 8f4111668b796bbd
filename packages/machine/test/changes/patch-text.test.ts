import { ToolFailure } from "@gennai/governance/tool-error";
import { diffLines } from "@gennai/protocol/diff/line-diff";
import { splitLines } from "@gennai/protocol/diff/line-edit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type PatchHunk, parsePatch } from "#changes/parse-patch";
import { patchText } from "#changes/patch-text";

function failure(work: () => unknown): string {
  try {
    work();
    return "no failure";
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return `${error.code}: ${error.message}`;
  }
}

const patch = (...lines: readonly string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

describe("parsePatch", () => {
  test("reads every kind of file", () => {
    const lines = [
      ...["*** Add File: new.txt", "+a", "+", "*** Update File: src/app.py", "*** Move to: src/main.py"],
      ...["@@ class A:", "@@   def f():", " x", "-y", "+z", "", "@@", "-last", "*** End of File"],
      "*** Delete File: old.txt",
    ];
    const want = [
      { operation: "add", path: "new.txt", content: "a\n\n" },
      {
        operation: "update",
        path: "src/app.py",
        moveTo: "src/main.py",
        hunks: [
          { sections: ["class A:", "def f():"], oldLines: ["x", "y", ""], newLines: ["x", "z", ""], endOfFile: false },
          { sections: [], oldLines: ["last"], newLines: [], endOfFile: true },
        ],
      },
      { operation: "delete", path: "old.txt" },
    ];
    expect(parsePatch(patch(...lines))).toEqual(want);
    expect(parsePatch(`apply_patch <<'EOF'\r\n${patch(...lines).replaceAll("\n", "\r\n")}\r\nEOF\r\n`)).toEqual(want);
  });

  test("takes a first hunk without @@, ranges of a unified diff, and empty lines between files", () => {
    expect(
      parsePatch(patch("*** Update File: a", "-x", "+y", "", "*** Update File: b", "@@ -1,2 +1,2 @@", "-p")),
    ).toEqual([
      expect.objectContaining({ hunks: [{ sections: [], oldLines: ["x"], newLines: ["y"], endOfFile: false }] }),
      expect.objectContaining({ hunks: [{ sections: [], oldLines: ["p"], newLines: [], endOfFile: false }] }),
    ]);
  });

  test.each([
    ["no begin", "*** Update File: a\n-x\n", 'no line "*** Begin Patch"'],
    ["no end", "*** Begin Patch\n*** Delete File: a", 'no line "*** End Patch": it may be cut off'],
    ["words around it", `Here it is:\n${patch("*** Delete File: a")}`, "text around the patch"],
    ["nothing", patch(), "names no file"],
    ["no path", patch("*** Delete File: "), "Line 2 of the patch: the path is missing"],
    ["an unknown head", patch("*** Rename File: a"), "Line 2 of the patch: "],
    ["no hunk", patch("*** Update File: a"), "there is no hunk"],
    ["a hunk of context only", patch("*** Update File: a", "@@", " x"), "changes nothing"],
    ["a line without a mark", patch("*** Update File: a", "@@", "x"), "Line 4 of the patch: a line of a hunk begins"],
    [
      "too many hunks",
      patch("*** Update File: a", ...Array.from({ length: 201 }, () => ["@@", "-x"]).flat()),
      "a has more than 200 hunks; change it by several patches",
    ],
    ["too many sections", patch("*** Update File: a", ...Array(21).fill("@@ x"), "-x"), "more than 20 lines with @@"],
    ["lines of a deleted file", patch("*** Delete File: a", "-x"), "Line 3 of the patch: "],
    ["lines of a new file without +", patch("*** Add File: a", "+x", "y"), "Line 4 of the patch: "],
  ])("refuses %s", (_name, text, want) => {
    const failed = failure(() => parsePatch(text));
    expect(failed).toMatch(/^bad_patch: /);
    expect(failed).toContain(want);
  });
});

const hunk = (oldLines: readonly string[], newLines: readonly string[], more: Partial<PatchHunk> = {}): PatchHunk => ({
  sections: [],
  oldLines,
  newLines,
  endOfFile: false,
  ...more,
});

describe("patchText", () => {
  const twice = "class A:\n  def f():\n    x\nclass B:\n  def f():\n    x\n";
  test.each([
    ["one place", "a\nb\nc\n", [hunk(["a", "b"], ["a", "B"])], "a\nB\nc\n"],
    ["whole lines only", "ab\nb\n", [hunk(["b"], ["c"])], "ab\nc\n"],
    ["one behind the other", "a\nx\nb\nx\n", [hunk(["a", "x"], ["a", "1"]), hunk(["x"], ["2"])], "a\n1\nb\n2\n"],
    ["in a section", twice, [hunk(["    x"], ["    y"], { sections: ["class B:"] })], twice.replace(/x\n$/, "y\n")],
    [
      "in a section of a section",
      twice,
      [hunk(["    x"], ["    y"], { sections: ["class A:", "def f():"] })],
      twice.replace("x", "y"),
    ],
    [
      "behind context only",
      twice,
      [hunk(["class B:", "  def f():"], ["class B:", "  def f():"]), hunk(["    x"], ["    y"])],
      twice.replace(/x\n$/, "y\n"),
    ],
    ["new lines behind context only", "a\nb\n", [hunk(["a"], ["a"]), hunk([], ["n"])], "a\nn\nb\n"],
    ["context only, spelt otherwise", "\ta\nb\n", [hunk(["a"], ["a"]), hunk(["b"], ["c"])], "\ta\nc\n"],
    ["new lines behind a section", "a\nb\n", [hunk([], ["n"], { sections: ["a"] })], "a\nn\nb\n"],
    ["new lines at the end", "a\n", [hunk([], ["n"])], "a\nn\n"],
    ["the last of equal lines", "x\na\nx\n", [hunk(["x"], ["y"], { endOfFile: true })], "x\na\ny\n"],
    ["a last line without an end", "a\nb", [hunk(["b"], ["c"])], "a\nc"],
    ["to nothing", "a\n", [hunk(["a"], [])], ""],
    ["other trailing space", "a \nb\n", [hunk(["a", "b"], ["a", "c"])], "a \nc\n"],
    ["words for a blank line", "a\n    \nb\n", [hunk(["a", "", "b"], ["a", "    x", "b"])], "a\n    x\nb\n"],
    ["other indentation", "\ta\n\tb\n", [hunk(["a", "b"], ["a", "c"])], "\ta\n\tc\n"],
  ])("%s", (_name, text, hunks, want) => {
    expect(patchText(text, hunks, "f").text).toBe(want);
  });

  test.each([
    [
      "two places",
      "x\na\nx\n",
      [hunk(["x"], ["y"])],
      "ambiguous_match: The old lines fit at 2 places in f (lines 1, 3)",
    ],
    [
      "two sections",
      twice,
      [hunk(["    x"], ["y"], { sections: ["def f():"] })],
      "ambiguous_match: The line behind @@",
    ],
    [
      "two places nearly",
      " x\n\tx\n",
      [hunk(["  x"], ["y"])],
      "ambiguous_match: But for indentation, the old lines fit at 2",
    ],
    ["none", "a\n", [hunk(["b"], ["c"])], "no_match: The old lines are not in f"],
    ["no section", "a\n", [hunk(["a"], ["c"], { sections: ["class X"] })], "no_match: The line behind @@"],
    [
      "a place before the last hunk",
      "a\nb\n",
      [hunk(["b"], ["c"]), hunk(["a"], ["d"])],
      "no_match: The old lines are not in f (hunk 2) from line 3",
    ],
    ["a part of a line", "xa\n", [hunk(["a "], ["b"])], "no_match: "],
    ["not the end", "a\nb\n", [hunk(["a "], ["c"], { endOfFile: true })], "no_match: "],
  ])("refuses %s", (_name, text, hunks, want) => {
    expect(failure(() => patchText(text, hunks, "f"))).toContain(want);
  });

  test("says the lines as they are by then, and no more than five of them", () => {
    const hunks = [hunk(["a"], ["1", "2", "3"]), hunk(["x"], ["y"])];
    expect(failure(() => patchText(`a\n${"x\n".repeat(9)}`, hunks, "f"))).toContain(
      "fit at more than 5 places in f (hunk 2) (lines 4, 5, 6, 7, 8, …)",
    );
    expect(failure(() => patchText("a\nx\n", [hunks[0] ?? hunk([], []), hunk(["z"], [])], "f"))).toContain(
      "from line 4 on",
    );
  });

  test("hunks of a large file take no time, also where every line is the same or all of them nearly fit", () => {
    const numbered = Array.from({ length: 20_000 }, (_, index) => `  line ${index}`);
    const lines = (list: readonly string[]) => list.map((line) => `${line}\n`).join("");
    const each = (made: (line: string) => string) =>
      numbered.flatMap((line, index) => (index % 100 === 0 ? [hunk([made(line)], [made(`${line}!`)])] : []));
    const want = lines(numbered.map((line, index) => (index % 100 === 0 ? `${line}!` : line)));
    const started = process.cpuUsage();
    expect(
      patchText(
        lines(numbered),
        each((line) => line),
        "f",
      ).text,
    ).toBe(want);
    expect(
      patchText(
        lines(numbered),
        each((line) => `${line} `),
        "f",
      ).text,
    ).toBe(want);
    const same = Array.from({ length: 100_000 }, () => "same");
    const change = [hunk(same.slice(0, 20_000), ["x"])];
    expect(failure(() => patchText(lines(same), change, "f"))).toMatch(/^ambiguous_match/);
    const nearly = [
      hunk(
        same.slice(0, 20_000).map((line) => `${line} `),
        ["x"],
      ),
    ];
    expect(failure(() => patchText(lines(same), nearly, "f"))).toMatch(/^ambiguous_match/);
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(8_000);
  });

  test("hunks of any difference, with all lines between as context, make the new text", () => {
    const lines = fc.array(fc.constantFrom("a", "b", "", "  c"), { maxLength: 12 });
    const text = lines.map((each) => each.map((line) => `${line}\n`).join(""));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const [old, fresh] = [splitLines(before), splitLines(after)];
        const bare = (part: readonly string[]) => part.map((line) => line.slice(0, -1));
        let [oldAt, newAt] = [0, 0];
        const hunks = diffLines(before, after, { timeoutMs: 1000 }).edits.map(
          ({ oldStart, oldCount, newStart, newCount }) => {
            const made = hunk(
              bare(old.slice(oldAt, oldStart - 1 + oldCount)),
              bare(fresh.slice(newAt, newStart - 1 + newCount)),
            );
            [oldAt, newAt] = [oldStart - 1 + oldCount, newStart - 1 + newCount];
            return made;
          },
        );
        // New lines without any old line go to the end.
        fc.pre(hunks.every(({ oldLines }) => oldLines.length > 0));
        let patched: string;
        try {
          patched = patchText(before, hunks, "f").text;
        } catch (error) {
          // Such hunks may fit twice; then nothing was changed.
          if (error instanceof ToolFailure && error.code === "ambiguous_match") return;
          throw error;
        }
        expect(patched).toBe(after);
      }),
      { numRuns: 2000 },
    );
  });
});
