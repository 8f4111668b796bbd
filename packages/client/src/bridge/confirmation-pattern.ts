/** A narrow class of actions that a yes for a turn or the session may be remembered for, run dry by the server. */
export interface RememberPattern {
  /** What the answer names. */
  readonly id: string;
  /** The exact pattern, e.g. `rm src/*.ts`. */
  readonly text: string;
  /** The rule whose question it answers. */
  readonly rule: string;
  /** Earlier actions of this session that it covers. */
  readonly matchedBefore: readonly string[];
  /** Examples that it covers, if their risk and rule are the same. */
  readonly wouldMatch: readonly string[];
  /** Examples that it never covers. */
  readonly wouldNotMatch: readonly string[];
}
