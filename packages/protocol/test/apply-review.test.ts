import fc from "fast-check";
import { expect, test } from "vitest";
import { applyReview, type HunkDecision, type ReviewableChange, ReviewError } from "#apply-review";

type Hunk = ReviewableChange["hunks"][number];

/** A file as blocks: `same` stands in both texts, `old` and `fresh` are the two sides of a hunk. */
type Block =
  | { readonly same: readonly string[] }
  | { readonly old: readonly string[]; readonly fresh: readonly string[] };

interface Case {
  readonly blocks: readonly Block[];
  readonly ending: "\n" | "\r\n";
  readonly bom: boolean;
  readonly finalEnding: boolean;
}

const line = fc.stringMatching(/^[a-z +-]{0,6}$/);
const same = fc.array(line, { minLength: 1, maxLength: 3 });
const sides = fc
  .record({ old: fc.array(line, { maxLength: 3 }), fresh: fc.array(line, { maxLength: 3 }) })
  .filter(({ old, fresh }) => old.length + fresh.length > 0);
const cases: fc.Arbitrary<Case> = fc.record({
  blocks: fc
    .tuple(fc.option(sides), fc.array(fc.tuple(same, sides), { minLength: 1, maxLength: 4 }), same)
    .map(([first, rest, last]) => [
      ...(first === null ? [] : [first]),
      ...rest.flatMap(([before, hunk]): Block[] => [{ same: before }, hunk]),
      // An empty last line without an ending would be no line at all.
      { same: [...last, "end"] },
    ]),
  ending: fc.constantFrom("\n", "\r\n"),
  bom: fc.boolean(),
  finalEnding: fc.boolean(),
});

function textOf(one: Case, pick: (block: Block, hunkIndex: number) => readonly string[]): string {
  let hunkIndex = 0;
  const lines = one.blocks.flatMap((block) => pick(block, "same" in block ? -1 : hunkIndex++));
  return (one.bom ? "\uFEFF" : "") + lines.join(one.ending) + (one.finalEnding ? one.ending : "");
}

function hunksOf(one: Case): Hunk[] {
  const hunks: Hunk[] = [];
  let old = 0;
  let fresh = 0;
  for (const block of one.blocks) {
    if ("same" in block) {
      old += block.same.length;
      fresh += block.same.length;
      continue;
    }
    const range = (start: number, count: number) => ({ start: count === 0 ? start : start + 1, count });
    hunks.push({
      id: `h${hunks.length}`,
      oldRange: range(old, block.old.length),
      newRange: range(fresh, block.fresh.length),
    });
    old += block.old.length;
    fresh += block.fresh.length;
  }
  return hunks;
}

const sideOf = (block: Block, side: "old" | "fresh") => ("same" in block ? block.same : block[side]);

function review(one: Case, decide: (index: number) => HunkDecision) {
  const base = textOf(one, (block) => sideOf(block, "old"));
  const fresh = textOf(one, (block) => sideOf(block, "fresh"));
  const hunks = hunksOf(one);
  const decisions = new Map(hunks.map((hunk, index) => [hunk.id, decide(index)]));
  const result = applyReview(base, fresh, { path: "a.ts", hunks }, decisions);
  return { base, fresh, text: result.type === "write" ? result.text : base };
}

test("all kept is the new text", () => {
  fc.assert(
    fc.property(cases, (one) => {
      const { text, fresh } = review(one, () => ({ type: "keep" }));
      expect(text).toBe(fresh);
    }),
  );
});

test("all undone is the base", () => {
  fc.assert(
    fc.property(cases, (one) => {
      const { text, base } = review(one, () => ({ type: "undo" }));
      expect(text).toBe(base);
    }),
  );
});

test("a subset applies just these hunks, an edited one its own lines, endings and mark kept", () => {
  fc.assert(
    fc.property(
      cases,
      fc.array(fc.constantFrom("keep", "undo", "edited" as const), { minLength: 6, maxLength: 6 }),
      (one, types) => {
        const { text } = review(one, (index) =>
          types[index] === "edited"
            ? { type: "edited", text: "mine\ntoo" }
            : { type: types[index] === "keep" ? "keep" : "undo" },
        );
        const wanted = textOf(one, (block, index) => {
          if ("same" in block) return block.same;
          if (types[index] === "edited") return ["mine", "too"];
          return types[index] === "keep" ? block.fresh : block.old;
        });
        // A text of one line has no ending to take over.
        if (textOf(one, (block) => sideOf(block, "old")).includes(one.ending)) expect(text).toBe(wanted);
      },
    ),
  );
});

const whole = (operation: "create" | "update" | "delete") => ({ operation, path: "a.ts", hunks: [] });
const removed: Hunk = { id: "h1", oldRange: { start: 1, count: 1 }, newRange: { start: 0, count: 0 } };
const rows = [
  {
    name: "delete shown as a hunk, kept as a whole",
    base: "x\n",
    fresh: undefined,
    change: { ...whole("delete"), hunks: [removed] },
    decision: { type: "keep" },
    wanted: { type: "delete" },
  },
  {
    name: "delete shown as a hunk, undone as a whole",
    base: "x\n",
    fresh: undefined,
    change: { ...whole("delete"), hunks: [removed] },
    decision: { type: "undo" },
    wanted: { type: "unchanged" },
  },
  {
    name: "create kept",
    base: undefined,
    fresh: "x\n",
    change: whole("create"),
    decision: { type: "keep" },
    wanted: { type: "write", text: "x\n" },
  },
  {
    name: "create undone",
    base: undefined,
    fresh: "x\n",
    change: whole("create"),
    decision: { type: "undo" },
    wanted: { type: "unchanged" },
  },
  {
    name: "create edited",
    base: undefined,
    fresh: "x\n",
    change: whole("create"),
    decision: { type: "edited", text: "y\n" },
    wanted: { type: "write", text: "y\n" },
  },
  {
    name: "delete kept",
    base: "x\n",
    fresh: undefined,
    change: whole("delete"),
    decision: { type: "keep" },
    wanted: { type: "delete" },
  },
  {
    name: "delete undone",
    base: "x\n",
    fresh: undefined,
    change: whole("delete"),
    decision: { type: "undo" },
    wanted: { type: "unchanged" },
  },
  {
    name: "a mark that the new text lost comes back",
    base: "\uFEFFx\n",
    fresh: "y\n",
    change: whole("update"),
    decision: { type: "keep" },
    wanted: { type: "write", text: "\uFEFFy\n" },
  },
] as const;

test.each(rows)("$name", ({ base, fresh, change, decision, wanted }) => {
  expect(applyReview(base, fresh, change, new Map([["", decision]]))).toEqual(wanted);
});

test("no decision is no keep", () => {
  expect(applyReview("a\n", "b\n", whole("update"), new Map())).toEqual({ type: "unchanged" });
});

test("hunks that do not lie on the texts are refused", () => {
  const hunk = (id: string, start: number): Hunk => ({
    id,
    oldRange: { start, count: 1 },
    newRange: { start, count: 1 },
  });
  const change = { path: "a.ts", hunks: [hunk("h0", 1), hunk("h1", 3)] } as const;
  const decisions = new Map<string, HunkDecision>([
    ["h0", { type: "keep" }],
    ["h1", { type: "undo" }],
  ]);
  expect(() => applyReview("a\nb\nc\n", "A\nother\nC\n", change, decisions)).toThrow(ReviewError);
  expect(() => applyReview("a\n", "A\n", change, decisions)).toThrow(ReviewError);
});
