import type { ReviewState } from "@gennai/client/host/review-state";
import { keptReviewsFrom, keptReviewsJson, reviewOf, withReview } from "@gennai/client/review/kept-reviews";
import type { Proposal } from "@gennai/protocol/model/session/proposal";

export interface WindowReviewsOptions {
  /** What `keep` was last called with. */
  readonly kept: unknown;
  readonly keep: (reviews: readonly unknown[]) => void;
  /** Called after each change. `place`: the view in which it was made; undefined: the editor. */
  readonly changed: (state: unknown, place: string | undefined) => void;
}

/** Most characters of JSON that are kept, of all reviews together. */
const keptCharacters = 1024 * 1024;

/**
 * The user's decisions about proposals that are not carried out yet: one state for the editor and all REPLs of the window, stored
 * for the workspace.
 */
export class WindowReviews {
  readonly #options: WindowReviewsOptions;
  #reviews;

  constructor(options: WindowReviewsOptions) {
    this.#options = options;
    this.#reviews = keptReviewsFrom(Array.isArray(options.kept) ? options.kept : []);
  }

  of(proposal: Proposal): ReviewState {
    return reviewOf(this.#reviews, proposal);
  }

  /** @param state a `ReviewState`; from a REPL it is not trusted, and is parsed when it is used */
  set(state: unknown, place?: string): void {
    const next = withReview(this.#reviews, state);
    if (next === this.#reviews) return;
    this.#reviews = next;
    let left = keptCharacters;
    this.#options.keep(
      this.toJson().filter((review) => {
        left -= JSON.stringify(review).length;
        return left >= 0;
      }),
    );
    this.#options.changed(state, place);
  }

  /** Newest first. */
  toJson(): readonly unknown[] {
    return keptReviewsJson(this.#reviews);
  }
}
