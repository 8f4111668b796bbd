/** How a pattern that the linear-time engine cannot express came out. `gave-up` counts as a match. */
export type SlowAnswer = "match" | "no-match" | "gave-up";

/**
 * Runs patterns with look-around or back-references apart from everything else, because they may take exponential time.
 * Gives up on a text above 4 KiB and after 20 ms. Rejects only when the signal aborts.
 */
export interface SlowPattern {
  matches(pattern: SlowExpression, text: string, options: { readonly signal: AbortSignal }): Promise<SlowAnswer>;
}

export interface SlowExpression {
  /** In JavaScript's syntax. */
  readonly source: string;
  readonly flags: string;
}
