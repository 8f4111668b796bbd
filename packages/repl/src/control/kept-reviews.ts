import type { ReviewState } from "@gennai/client/host/review-state";
import { keptReviewsFrom, keptReviewsJson, reviewOf, withReview } from "@gennai/client/review/kept-reviews";
import type { Proposal } from "@gennai/protocol/model/session/proposal";
import { signal } from "@preact/signals";
import type { ReplHost } from "../hosts/repl-host.ts";

/** Where the app reads earlier decisions, and saves new ones. */
export type ReviewsHost = Pick<ReplHost, "launch" | "saveReview">;

/**
 * Decisions about proposals that are not carried out yet, also from before a reload. An editor's host keeps them for all its
 * views, and reports those that are made elsewhere; on a page, the app keeps them itself.
 */
export class KeptReviews {
  readonly #host: ReviewsHost;
  readonly #states;

  /** @param kept what `toJson` returned */
  constructor(host: ReviewsHost, kept: readonly unknown[]) {
    this.#host = host;
    this.#states = signal(keptReviewsFrom(host.launch.reviews ?? kept));
  }

  of(proposal: Proposal): ReviewState {
    return reviewOf(this.#states.value, proposal);
  }

  set(state: ReviewState): void {
    this.#states.value = withReview(this.#states.value, state);
    this.#host.saveReview?.(state);
  }

  /** Another view of the host made a decision. */
  hear(state: unknown): void {
    this.#states.value = withReview(this.#states.value, state);
  }

  /** What the app has to keep: newest first. */
  toJson(): readonly unknown[] {
    return this.#host.launch.reviews === undefined ? keptReviewsJson(this.#states.value) : [];
  }
}
