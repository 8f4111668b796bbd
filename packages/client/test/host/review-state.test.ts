import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import { expect, test } from "vitest";
import {
  carriedOut,
  countDecisions,
  decide,
  decideMany,
  decideWhole,
  newReview,
  reviewFromJson,
  reviewToApply,
} from "#host/review-state";
import { oneHunk, proposalOf, proposedChange } from "../../../protocol/test/model/session/proposed-change.ts";

function change(id: string, hunkIds: readonly string[], more: Partial<ProposedChange> = {}): ProposedChange {
  return proposedChange({
    id,
    path: `src/${id}.ts`,
    hunks: hunkIds.map((hunk) => oneHunk(hunk)),
    ...more,
  });
}

const changes = [
  change("a", ["1", "2"]),
  change("gone", ["1"], { operation: "delete" }),
  change("__proto__", ["__proto__"]),
];
const proposal = proposalOf(changes);

test("what was carried out stands: hunks that nobody decided about were not kept, and an edit keeps its text", () => {
  const edit = { type: "edited", text: "x\n" } as const;
  const state = decide(newReview("p"), "a", ["1"], edit);
  const hunks = [
    { changeId: "a", hunkId: "1", decision: "edited" },
    { changeId: "a", hunkId: "2", decision: "undo" },
    { changeId: "__proto__", hunkId: "__proto__", decision: "edited" },
  ] as const;
  const { decisions } = carriedOut(state, hunks);
  expect(decisions["a"]).toEqual({ 1: edit, 2: { type: "undo" } });
  expect(countDecisions({ decisions }, changes)).toMatchObject({ edited: 1, undone: 1, kept: 0 });
});

test("a rename is one decision, however many hunks it has, and both its paths follow it", () => {
  const renamed = change("new", ["1", "2"], { operation: "create", movedFrom: "src/old.ts" });
  const both = [renamed, change("old", ["1"], { operation: "delete" })];
  const state = decideWhole(newReview("p"), both, "new", [""], { type: "undo" });
  expect(state.decisions).toEqual({ new: { "": { type: "undo" } }, old: { "": { type: "undo" } } });
  expect(countDecisions(state, both)).toMatchObject({ total: 1, undone: 1, open: 0 });
});

test("a review survives a reload", () => {
  let state = decide(newReview("p"), "a", ["1"], { type: "edited", text: "x\n" });
  state = decide({ ...state, note: "why", layout: "unified" }, "__proto__", ["__proto__"], { type: "keep" });
  expect(reviewFromJson(JSON.parse(JSON.stringify(state)), proposal)).toEqual(state);
});

test.each([
  { name: "nothing", kept: undefined },
  { name: "another proposal", kept: { ...newReview("other"), note: "x" } },
  { name: "decisions of no kind", kept: { proposalId: "p", decisions: { a: { 1: { type: "yes" }, 2: "keep" } } } },
  { name: "a hunk that is not there", kept: { proposalId: "p", decisions: { a: { 9: { type: "keep" } }, z: {} } } },
])("of $name nothing is taken over", ({ kept }) => expect(reviewFromJson(kept, proposal)).toEqual(newReview("p")));

test("what has no decision is sent as undone, a delete as a whole", () => {
  const state = decide(newReview("p"), "gone", [""], { type: "keep" });
  expect(reviewToApply({ ...state, note: " why " }, proposal, "s")).toEqual({
    sessionId: "s",
    proposalId: "p",
    note: "why",
    hunks: [
      { changeId: "a", hunkId: "1", decision: { type: "undo" } },
      { changeId: "a", hunkId: "2", decision: { type: "undo" } },
      { changeId: "gone", hunkId: "", decision: { type: "keep" } },
      { changeId: "__proto__", hunkId: "__proto__", decision: { type: "undo" } },
    ],
  });
});

test("what has no decision is kept where that was asked for, and nothing else changes", () => {
  const undone = decide(newReview("p"), "a", ["1"], { type: "undo" });
  const state = decide(undone, "__proto__", ["__proto__"], { type: "edited", text: "x" });
  expect(reviewToApply(state, proposal, "s", "keep").hunks).toEqual([
    { changeId: "a", hunkId: "1", decision: { type: "undo" } },
    { changeId: "a", hunkId: "2", decision: { type: "keep" } },
    { changeId: "gone", hunkId: "", decision: { type: "keep" } },
    { changeId: "__proto__", hunkId: "__proto__", decision: { type: "edited", text: "x" } },
  ]);
});

test("keeping all leaves edits and what is blocked alone; undoing all does not", () => {
  const edited = decide(newReview("p"), "a", ["1"], { type: "edited", text: "x" });
  const kept = decideMany(edited, changes, { type: "keep" }, { blocked: new Set(["gone"]) });
  expect(countDecisions(kept, changes)).toEqual({ total: 4, kept: 2, undone: 0, edited: 1, open: 1 });
  const undone = decideMany(kept, changes, { type: "undo" }, { blocked: new Set(["gone"]) });
  expect(countDecisions(undone, changes)).toEqual({ total: 4, kept: 0, undone: 4, edited: 0, open: 0 });
});

test("deciding one half of a move decides the other", () => {
  const base = { unifiedDiff: "", newContent: "", baseSha256: "", conflict: false, warning: "", hunks: [] };
  const changes: readonly ProposedChange[] = [
    { ...base, id: "1", path: "old.ts", operation: "delete" },
    { ...base, id: "2", path: "new.ts", operation: "create", movedFrom: "old.ts" },
  ];
  for (const [id, other] of [
    ["1", "2"],
    ["2", "1"],
  ] as const) {
    const state = decideWhole(newReview("p"), changes, id, [""], { type: "undo" });
    expect(state.decisions[other]).toEqual({ "": { type: "undo" } });
  }
});
