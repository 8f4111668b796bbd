import { decide, newReview } from "@gennai/client/host/review-state";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import { describe, expect, test } from "vitest";
import { proposedChange } from "../../../protocol/test/model/session/proposed-change.ts";
import { hunkAt, hunkBeside } from "../../src/review/editor-hunks.ts";
import { hunkLenses } from "../../src/review/hunk-words.ts";
import { proposedHunks, type ShownHunk, writtenHunks } from "../../src/review/shown-hunk.ts";
import type { UnseenFile } from "../../src/review/unseen-file.ts";

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

/** e.g. `h1 open 1: removed 1-2` */
const words = (hunks: readonly ShownHunk[]) =>
  hunks.map(({ id, state, line, marks }) => {
    const shown = marks.map(({ kind, span }) => `${kind} ${span.start}-${span.end}`);
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
      wanted: ["h1 open 1: removed 1-2", "h2 open 6: place 6-6, removed 7-8"],
    },
    {
      name: "its new text",
      which: "fresh",
      now: fresh,
      wanted: ["h1 open 1: changed 1-2", "h2 open 6: added 6-7, place 8-8"],
    },
    {
      name: "its file with line ends of Windows, and lines above",
      which: "base",
      now: `x\r\n${base.replaceAll("\n", "\r\n")}`,
      wanted: ["h1 open 2: removed 2-3", "h2 open 7: place 7-7, removed 8-9"],
    },
    {
      name: "its file, where one hunk's lines were edited since",
      which: "base",
      now: base.replace("b", "user"),
      wanted: ["h2 open 6: place 6-6, removed 7-8"],
    },
    {
      name: "its file, where a part of a hunk was edited since",
      which: "base",
      now: base.replace("h", "user"),
      wanted: ["h1 open 1: removed 1-2"],
    },
    { name: "an empty one", which: "base", now: "", wanted: [] },
    {
      name: "its file, with an own version",
      which: "base",
      now: base,
      state: edited,
      wanted: ["h1 edited 1: removed 1-2", "h2 open 6: place 6-6, removed 7-8"],
    },
    {
      name: "its new text, with an own version that stands elsewhere",
      which: "fresh",
      now: fresh,
      state: edited,
      wanted: ["h1 edited 1: changed 1-2", "h2 open 6: added 6-7, place 8-8"],
    },
    {
      name: "its file, with an own version that changes nothing",
      which: "base",
      now: base,
      state: own("a\nb\nc\n"),
      wanted: ["h1 edited 0: place 0-0", "h2 open 6: place 6-6, removed 7-8"],
    },
    {
      name: "its file, one undone",
      which: "base",
      now: base,
      state: undone,
      wanted: ["h1 undo 1: removed 1-2", "h2 open 6: place 6-6, removed 7-8"],
    },
  ] as const)("$name", ({ which, now, wanted, ...more }) => {
    const state = ("state" in more ? more.state : undefined) ?? review;
    expect(words(proposedHunks(change(), state, which, { side: which === "base" ? base : fresh, now }))).toEqual(
      wanted,
    );
  });

  test("a delete is decided about as a whole, and what is not text is not shown", () => {
    const gone = change({ operation: "delete", hunks: [] });
    expect(words(proposedHunks(gone, review, "base", { side: base, now: base }))).toEqual([" open 0: removed 0-8"]);
    const bits = change({ hunks: [], newMode: 0o755 });
    expect(proposedHunks(bits, review, "base", { side: base, now: base })).toEqual([]);
  });
});

test("what the agent wrote, in its file, as far as nobody wrote over it", () => {
  const file = { path: "a.txt", base, agent: fresh };
  expect(words(writtenHunks(file, `x\n${fresh}`)).map((each) => each.replace(/^\S+ /, ""))).toEqual([
    "open 2: changed 2-3",
    "open 7: added 7-8",
    "open 8: place 9-9",
  ]);
  expect(writtenHunks(file, fresh.replace("B", "mine"))).toHaveLength(2);
  expect(writtenHunks({ path: "a.txt", base: undefined, agent: "a\n" }, "a\n")).toMatchObject([
    { line: 0, marks: [{ kind: "added", span: { start: 0, end: 1 } }] },
  ]);
  const ids = (written: UnseenFile, now: string) => writtenHunks(written, now).map(({ id }) => id.length > 0);
  expect(ids({ ...file, movedFrom: "old.txt" }, fresh)).toEqual([false, true, true, true]);
  expect(ids({ ...file, agent: undefined }, "")).toEqual([false]);
});

const proposed = { operation: "update" } as const;
const written = { operation: "update", origin: "written" } as const;
test.each([
  { id: "h1", state: "open", of: proposed, wanted: "Proposed change 2 of 3 (+2 \u22121) | Keep | Refuse | Edit" },
  { id: "h1", state: "keep", of: proposed, wanted: "Proposed change 2 of 3 (+2 \u22121): kept | Refuse | Edit" },
  { id: "h1", state: "undo", of: proposed, wanted: "Proposed change 2 of 3 (+2 \u22121): refused | Keep | Edit" },
  {
    id: "h1",
    state: "edited",
    of: proposed,
    wanted: "Proposed change 2 of 3 (+2 \u22121): edited | Keep | Refuse | Edit",
  },
  {
    id: "",
    state: "open",
    of: { operation: "delete" },
    wanted: "Proposed: delete this file 2 of 3 | Delete | Don't delete",
  },
  {
    id: "",
    state: "keep",
    of: { operation: "create", movedFrom: "old\u202E" },
    wanted: "Proposed: rename from old\\u{202e} 2 of 3: will be renamed | Don't rename",
  },
  { id: "1-x", state: "open", of: written, wanted: "Agent's change 2 of 3 (+2 \u22121) | Keep | Undo" },
  {
    id: "1-x",
    state: "open",
    of: { ...written, movedFrom: "old" },
    wanted: "Agent's change 2 of 3 (+2 \u22121) | Keep | Undo",
  },
  {
    id: "",
    state: "open",
    of: { ...written, movedFrom: "old\u202E" },
    wanted: "Agent's rename 2 of 3 (was old\\u{202e}) | Keep rename | Undo rename",
  },
  {
    id: "",
    state: "open",
    of: { ...written, operation: "delete" },
    wanted: "Agent's deletion 2 of 3 | Keep deleted | Bring back",
  },
] as const)("above a hunk: $wanted", ({ id, state, of, wanted }) => {
  const diff = [" a", "-b", "+B", "+C"];
  const titles = hunkLenses({ id, state, diff }, { origin: "proposed", ...of }, { index: 1, of: 3 }).map(
    ({ title }) => title,
  );
  expect(titles.join(" | ")).toBe(wanted);
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
