import type { Proposal } from "@gennai/protocol/model/session/proposal";
import { type ReviewState, reviewFromJson } from "../host/review-state.ts";

/**
 * Unapplied decisions about proposals, by the proposal's id; the last changed one at the end. Stored or received values are
 * parsed when their proposal is loaded.
 */
export type KeptReviews = ReadonlyMap<string, unknown>;

/** Reviews that are kept at most. */
const most = 20;

/** @param kept what `keptReviewsJson` gave */
export function keptReviewsFrom(kept: readonly unknown[]): KeptReviews {
  const named = kept.toReversed().map((state) => [proposalIdOf(state), state] as const);
  return new Map(named.filter(([id]) => id !== ""));
}

export function reviewOf(reviews: KeptReviews, proposal: Proposal): ReviewState {
  return reviewFromJson(reviews.get(proposal.proposalId), proposal);
}

/** With this review as the newest; the same ones when it names no proposal. */
export function withReview(reviews: KeptReviews, state: unknown): KeptReviews {
  const id = proposalIdOf(state);
  if (id === "") return reviews;
  const next = new Map(reviews);
  next.delete(id);
  return new Map([...next, [id, state] as const].slice(-most));
}

/** Newest first: a host may have room for some of them only. */
export function keptReviewsJson(reviews: KeptReviews): readonly unknown[] {
  return [...reviews.values()].toReversed();
}

function proposalIdOf(state: unknown): string {
  const id: unknown = typeof state === "object" && state !== null ? Reflect.get(state, "proposalId") : undefined;
  return typeof id === "string" ? id : "";
}
