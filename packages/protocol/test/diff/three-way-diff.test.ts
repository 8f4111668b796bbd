import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { threeWayDiff } from "#diff/three-way-diff";

const base = "a\nb\nc\nd\ne\nf\ng\n";

describe("seed 001 stale: return Stale File, require agent to re-read and attempt reconciliation (three-way diff)", () => {
  it.each<[string, string, string, string]>([
    ["nothing", base, base, ""],
    ["only theirs", base, base.replace("b", "B"), "@@ line 2 now: changed since you read it @@\n a\n-b\n+B\n"],
    ["only mine", base.replace("f", "F"), base, "@@ line 6 now: only you change this @@\n d\n e\n-f\n+F\n"],
    [
      "the same",
      base.replace("b", "B"),
      base.replace("b", "B"),
      "@@ line 2 now: changed since you read it, just as you wanted @@\n a\n-b\n+B\n",
    ],
    [
      "a conflict",
      base.replace("d", "mine"),
      base.replace("d", "theirs"),
      "@@ line 4 now: conflict @@\n b\n c\n<<<<<<< what you wanted\nmine\n||||||| what you read\nd\n=======\ntheirs\n>>>>>>> what is there now\n",
    ],
    [
      "two places, the second moved by the first",
      base.replace("f", "F"),
      base.replace("a\n", "0\n1\na\n"),
      "@@ line 1 now: changed since you read it @@\n+0\n+1\n@@ line 8 now: only you change this @@\n d\n e\n-f\n+F\n",
    ],
    [
      "two insertions at one place",
      base.replace("d\n", "d\nmine\n"),
      base.replace("d\n", "d\ntheirs\n"),
      "@@ line 5 now: conflict @@\n c\n d\n<<<<<<< what you wanted\nmine\n||||||| what you read\n=======\ntheirs\n>>>>>>> what is there now\n",
    ],
    ["a file emptied", base.replace("b", "B"), "", expect.stringContaining("conflict") as string],
  ])("shows %s", (_name, mine, theirs, wanted) => {
    expect(threeWayDiff({ base, mine, theirs })).toEqual(wanted);
  });

  it("is cut where it gets long", () => {
    const text = threeWayDiff({ base: "", mine: "", theirs: "x\n".repeat(1000) }, { maxLines: 10 });
    expect(text.split("\n")).toHaveLength(12);
    expect(text).toContain("not shown");
  });

  it("shows every line that somebody changed", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 8 });
    fc.assert(
      fc.property(text, text, text, (one, mine, theirs) => {
        const joined = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");
        const shown = threeWayDiff({
          base: joined(one),
          mine: joined([...mine, "M"]),
          theirs: joined(["T", ...theirs]),
        });
        expect(shown).toMatch(/^[+]?M$/m);
        expect(shown).toMatch(/^[+]?T$/m);
      }),
    );
  });
});
