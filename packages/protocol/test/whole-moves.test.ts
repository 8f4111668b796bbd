import { expect, test } from "vitest";
import type { HunkDecision } from "#apply-review";
import { decisionsByChange, renamedFiles } from "#whole-moves";

const moved = [
  { id: "1", path: "old.ts", operation: "delete" },
  { id: "2", path: "new.ts", operation: "create", movedFrom: "old.ts" },
  { id: "3", path: "gone.ts", operation: "delete" },
] as const;
const of = (...decisions: readonly (readonly [string, HunkDecision["type"]])[]) =>
  decisions.map(([changeId, type]) => ({
    changeId,
    hunkId: "",
    decision: type === "edited" ? { type, text: "x" } : { type },
  }));

test.each([
  { name: "refused at its new place, it stays at the old", given: of(["1", "keep"], ["2", "undo"]), old: "undo" },
  { name: "kept at its new place, it goes from the old", given: of(["1", "undo"], ["2", "keep"]), old: "keep" },
  { name: "so it does when it was edited there", given: of(["1", "undo"], ["2", "edited"]), old: "keep" },
  { name: "undecided at its new place, it stays", given: of(["1", "keep"]), old: "undo" },
  { name: "a deletion alone stands by itself", given: of(["3", "keep"]), old: "undo", gone: "keep" },
])("a move is one decision: $name", ({ given, old, gone }) => {
  const whole = decisionsByChange(moved, given);
  expect(whole.get("1")?.get("")?.type).toBe(old);
  expect(whole.get("3")?.get("")?.type).toBe(gone);
});

test("a file of a change set was renamed if one other file with its content, and only one, is gone", () => {
  const gone = (path: string, beforeSha256: string) => ({ path, beforeSha256 });
  const made = (path: string, afterSha256: string) => ({ path, afterSha256 });
  const files = [
    ...[gone("a", "1"), made("b", "1"), gone("c", "2"), made("d", "3")],
    ...[gone("e", "4"), made("f", "4"), made("g", "4")],
    { path: "h", beforeSha256: "5", afterSha256: "5" },
  ];
  expect([...renamedFiles(files)].map(([{ path }, old]) => [path, old.path])).toEqual([["b", "a"]]);
});
