import { decide, newReview } from "@gennai/client/host/review-state";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import { describe, expect, test } from "vitest";
import { proposedChange } from "../../../protocol/test/model/session/proposed-change.ts";
import { hunkAt, hunkBeside } from "../../src/review/editor-hunks.ts";
import { ghostsOf } from "../../src/review/hunk-ghosts.ts";
import { ghostText, hunkLenses } from "../../src/review/hunk-words.ts";
import { linesOf } from "../../src/review/line-hunks.ts";
import { proposedHunks, type ShownHunk, writtenHunks } from "../../src/review/shown-hunk.ts";

const base = "a\nb\nc\nd\ne\nf\ng\nh\n";
const fresh = "a\nB\nc\nd\ne\nf\nnew\ng\n";

const change = (more: Partial<ProposedChange> = {}): ProposedChange =>
  proposedChange({
    newContent: fresh,
    hunks: [
      { id: "h1", oldRange: { start: 1, count: 3 }, newRange: { start: 1, count: 3 }, lines: [" a", "-b", "+B", " c"] },
      {
        id: "h2",
        oldRange: { start: 6, count: 3 },
        newRange: { start: 6, count: 3 },
        lines: [" f", "+new", " g", "-h"],
      },
    ],
    ...more,
  });
const review = newReview("p");

/** e.g. `h1 open 1: removed 1-2 (B)` */
const words = (hunks: readonly ShownHunk[]) =>
  hunks.map(({ id, state, line, marks }) => {
    const shown = marks.map(
      ({ kind, span, elsewhere }) => `${kind} ${span.start}-${span.end} (${elsewhere.join("").replaceAll("\n", "|")})`,
    );
    return `${id} ${state} ${line}: ${shown.join(", ")}`;
  });

describe("a proposal in a document", () => {
  const edited = decide(review, "c1", ["h1"], { type: "edited", text: "a\nmine\ntwo\nc\n" });
  const undone = decide(review, "c1", ["h1"], { type: "undo" });
  const own = (text: string) => decide(review, "c1", ["h1"], { type: "edited", text });
  test.each([
    {
      name: "its file",
      which: "base",
      now: base,
      wanted: ["h1 open 1: removed 1-2 (B|)", "h2 open 6: place 6-6 (new|), removed 7-8 ()"],
    },
    {
      name: "its new text",
      which: "fresh",
      now: fresh,
      wanted: ["h1 open 1: changed 1-2 (b|)", "h2 open 6: added 6-7 (), place 8-8 (h|)"],
    },
    {
      name: "its file with line ends of Windows, and lines above",
      which: "base",
      now: `x\r\n${base.replaceAll("\n", "\r\n")}`,
      wanted: ["h1 open 2: removed 2-3 (B|)", "h2 open 7: place 7-7 (new|), removed 8-9 ()"],
    },
    {
      name: "its file, where one hunk's lines were edited since",
      which: "base",
      now: base.replace("b", "user"),
      wanted: ["h2 open 6: place 6-6 (new|), removed 7-8 ()"],
    },
    {
      name: "its file, where a part of a hunk was edited since",
      which: "base",
      now: base.replace("h", "user"),
      wanted: ["h1 open 1: removed 1-2 (B|)"],
    },
    { name: "an empty one", which: "base", now: "", wanted: [] },
    {
      name: "its file, with an own version",
      which: "base",
      now: base,
      state: edited,
      wanted: ["h1 edited 1: removed 1-2 (mine|two|)", "h2 open 6: place 6-6 (new|), removed 7-8 ()"],
    },
    {
      name: "its new text, with an own version that stands elsewhere",
      which: "fresh",
      now: fresh,
      state: edited,
      wanted: ["h1 edited 1: changed 1-2 (b|)", "h2 open 6: added 6-7 (), place 8-8 (h|)"],
    },
    {
      name: "its file, with an own version that changes nothing",
      which: "base",
      now: base,
      state: own("a\nb\nc\n"),
      wanted: ["h1 edited 0: place 0-0 ()", "h2 open 6: place 6-6 (new|), removed 7-8 ()"],
    },
    {
      name: "its file, one undone",
      which: "base",
      now: base,
      state: undone,
      wanted: ["h1 undo 1: removed 1-2 (B|)", "h2 open 6: place 6-6 (new|), removed 7-8 ()"],
    },
  ] as const)("$name", ({ which, now, wanted, ...more }) => {
    const state = ("state" in more ? more.state : undefined) ?? review;
    expect(words(proposedHunks(change(), state, which, { side: which === "base" ? base : fresh, now }))).toEqual(
      wanted,
    );
  });

  test("a delete is decided about as a whole, and what is not text is not shown", () => {
    const gone = change({ operation: "delete", hunks: [] });
    expect(words(proposedHunks(gone, review, "base", { side: base, now: base }))).toEqual([" open 0: removed 0-8 ()"]);
    const bits = change({ hunks: [], newMode: 0o755 });
    expect(proposedHunks(bits, review, "base", { side: base, now: base })).toEqual([]);
  });
});

test("what the agent wrote, in its file, as far as nobody wrote over it", () => {
  const file = { path: "a.txt", base, agent: fresh };
  expect(words(writtenHunks(file, `x\n${fresh}`)).map((each) => each.replace(/^\S+ /, ""))).toEqual([
    "open 2: changed 2-3 (b|)",
    "open 7: added 7-8 ()",
    "open 8: place 9-9 (h|)",
  ]);
  expect(writtenHunks(file, fresh.replace("B", "mine"))).toHaveLength(2);
  expect(writtenHunks({ path: "a.txt", base: undefined, agent: "a\n" }, "a\n")).toMatchObject([
    { line: 0, marks: [{ kind: "added", span: { start: 0, end: 1 } }] },
  ]);
});

describe("lines that stand elsewhere", () => {
  const lines = (text: string) => linesOf(text);
  test.each([
    {
      name: "stand behind those they replace",
      mark: { kind: "removed", span: { start: 2, end: 4 }, elsewhere: lines("  one\ntwo\nthree\nfour\n") },
      isProposed: true,
      wanted: ["2 → one", "3 → two  (+2 lines)"],
    },
    {
      name: "are fewer than those they replace",
      mark: { kind: "removed", span: { start: 2, end: 4 }, elsewhere: lines("one\n") },
      isProposed: true,
      wanted: ["2 → one"],
    },
    {
      name: "come behind the line above",
      mark: { kind: "place", span: { start: 2, end: 2 }, elsewhere: lines("one\ntwo\n") },
      isProposed: true,
      wanted: ["1 + one  (+1 line)"],
    },
    {
      name: "come before the first line",
      mark: { kind: "place", span: { start: 0, end: 0 }, elsewhere: lines("one\n") },
      isProposed: true,
      wanted: ["0 + one"],
    },
    {
      name: "were taken out",
      mark: { kind: "place", span: { start: 9, end: 9 }, elsewhere: lines("one\ntwo\nthree\n") },
      isProposed: false,
      wanted: ["7 − one  (−2 lines)"],
    },
    {
      name: "were replaced",
      mark: { kind: "changed", span: { start: 1, end: 2 }, elsewhere: lines("one\n") },
      isProposed: false,
      wanted: [],
    },
  ] as const)("$name", ({ mark, isProposed, wanted }) => {
    expect(ghostsOf(mark, isProposed, 8).map(({ line, text }) => `${line} ${text}`)).toEqual(wanted);
  });

  test.each([
    { text: "\ta", wanted: "+   a" },
    { text: "a\u202Eb\u200Bc\u0000", wanted: "+ a\\u{202e}b\\u{200b}c\\u{0}" },
    { text: "x".repeat(200), wanted: `+ ${"x".repeat(160)}…` },
  ])("are shown as they are: $text", ({ text, wanted }) => expect(ghostText(text, 0, "+")).toBe(wanted));
});

describe("above a hunk", () => {
  test.each([
    { id: "h1", state: "open", origin: "proposed", wanted: "Proposed change 2 of 3 | Keep | Refuse | Edit" },
    { id: "h1", state: "keep", origin: "proposed", wanted: "Proposed change 2 of 3: kept | Refuse | Edit" },
    { id: "h1", state: "undo", origin: "proposed", wanted: "Proposed change 2 of 3: refused | Keep | Edit" },
    { id: "h1", state: "edited", origin: "proposed", wanted: "Proposed change 2 of 3: edited | Keep | Refuse | Edit" },
    { id: "", state: "open", origin: "proposed", wanted: "Proposed change 2 of 3 | Keep | Refuse" },
    { id: "1-x", state: "open", origin: "written", wanted: "Agent's change 2 of 3 | Keep | Undo" },
  ] as const)("$state of $origin", ({ id, state, origin, wanted }) => {
    const titles = hunkLenses({ id, state }, origin, { index: 1, of: 3 }).map(({ title }) => title);
    expect(titles.join(" | ")).toBe(wanted);
  });
});

test("one walks from hunk to hunk, and acts on the one at the cursor only", () => {
  const hunks = proposedHunks(change(), review, "base", { side: base, now: base });
  const at = (line: number) => [
    hunkAt(hunks, line)?.id,
    hunkBeside(hunks, line, -1)?.id,
    hunkBeside(hunks, line, 1)?.id,
  ];
  expect([0, 1, 3, 6, 7].map(at)).toEqual([
    [undefined, undefined, "h1"],
    ["h1", undefined, "h2"],
    [undefined, "h1", "h2"],
    ["h2", "h1", undefined],
    ["h2", "h2", undefined],
  ]);
});
