import { decide, newReview } from "@gennai/client/host/review-state";
import { expect, test } from "vitest";
import { oneHunk, proposalOf, proposedChange } from "../../../protocol/test/model/session/proposed-change.ts";
import { WindowReviews } from "../../src/review/window-reviews.ts";

const proposal = proposalOf([proposedChange({ id: "a", path: "a.ts", hunks: [oneHunk("1")] })]);

function open(kept: unknown) {
  const told: unknown[] = [];
  const saved: (readonly unknown[])[] = [];
  const reviews = new WindowReviews({
    kept,
    keep: (now) => void saved.push(now),
    changed: (state, place) => void told.push([state, place]),
  });
  return { reviews, told, saved };
}

test("a decision of one place is the state of all, and comes back after a reload", () => {
  const { reviews, told, saved } = open(undefined);
  const kept = decide(newReview("p"), "a", ["1"], { type: "keep" });
  reviews.set(kept, "view");
  const undone = decide(reviews.of(proposal), "a", ["1"], { type: "undo" });
  reviews.set(undone);
  expect(told).toEqual([
    [kept, "view"],
    [undone, undefined],
  ]);
  expect(open(JSON.parse(JSON.stringify(saved.at(-1)))).reviews.of(proposal)).toEqual(undone);
});

test.each([undefined, null, 7, { proposalId: 7 }, []])("what is not a review changes nothing: %j", (state) => {
  const { reviews, told } = open([state]);
  reviews.set(state, "view");
  expect({ told, json: reviews.toJson() }).toEqual({ told: [], json: [] });
});

test("what is kept has a bound, the newest first", () => {
  const { reviews, saved } = open([]);
  reviews.set({ ...newReview("old"), note: "x".repeat(600_000) });
  reviews.set({ ...newReview("new"), note: "x".repeat(600_000) });
  expect(saved.at(-1)).toEqual([{ ...newReview("new"), note: "x".repeat(600_000) }]);
});
