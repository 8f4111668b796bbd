import type { ReplHost } from "@gennai/client/host/repl-host";
import { keptReviewsFrom, keptReviewsJson, reviewOf, withReview } from "@gennai/client/review/kept-reviews";
import type { ReviewState } from "@gennai/client/review/review-state";
import type { Proposal } from "@gennai/protocol/model/session/proposal";
import { signal } from "@preact/signals";

/** Where an app finds what was decided before, and tells what is decided. */
export type ReviewsHost = Pick<ReplHost, "launch" | "saveReview">;

/**
 * Decisions about proposals that are not carried out yet, those of before a reload too. An editor's host holds them for all its
 * places, and reports those that are made elsewhere; on a page the app keeps them itself.
 */
export class KeptReviews {
  readonly #host: ReviewsHost;
  readonly #states;

  /** @param kept what `toJson` gave */
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

  /** Decided in another place of the host. */
  hear(state: unknown): void {
    this.#states.value = withReview(this.#states.value, state);
  }

  /** What the app has to keep: newest first. */
  toJson(): readonly unknown[] {
    return this.#host.launch.reviews === undefined ? keptReviewsJson(this.#states.value) : [];
  }
}
