/** Clients and the server apply a review by the same function, so that the same decisions give the same bytes. */
export { applyReview, type HunkDecision, wholeChange } from "@gennai/protocol/review/apply-review";
