import { expect, test } from "vitest";
import type { HunkDecision } from "#apply-review";
import { decisionsByChange } from "#whole-moves";

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
