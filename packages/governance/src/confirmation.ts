import type { Risk } from "./risk.ts";

/**
 * How long a yes lasts. High risk is only ever answered `once`; `workspace` is for every later session as well, and is
 * offered only where the action is bound to all that it is known to run.
 */
export type ConfirmationScope = "once" | "turn" | "session" | "workspace";

/** The one question that all asks of a call become. */
export interface Question {
  readonly callId: string;
  readonly turnId: string;
  readonly toolName: string;
  readonly title: string;
  readonly intentReflection: string;
  readonly actionStatement: string;
  /** Empty when there is nothing to add. */
  readonly impactStatement: string;
  /** The model's own words; shown apart from what was computed. */
  readonly modelClaim: string;
  readonly computed: {
    readonly risk: Risk;
    readonly paths: readonly string[];
    readonly rule: string;
    readonly reason: string;
    readonly policySha256: string;
  };
  /** Canonical JSON of the exact action, unredacted: who approves sees all of it. */
  readonly actionJson: string;
  readonly actionSha256: string;
  /** What a yes for longer than once would be remembered for; empty where only once is offered. */
  readonly rememberStatement: string;
  readonly offeredScopes: readonly ConfirmationScope[];
  /** What a yes for longer than once may be remembered for besides the exact action; absent where nothing is offered. */
  readonly patterns?: readonly OfferedPattern[];
}

/** A narrow class of actions, with what it would have let pass and what it would let pass. */
export interface OfferedPattern {
  /** Digest of all that the pattern is bound to. The answer names it. */
  readonly id: string;
  /** The exact pattern, e.g. `rm src/*.ts`. */
  readonly text: string;
  /** The rule, or rules, whose question it answers. */
  readonly rule: string;
  /** Earlier actions of this session that it covers. */
  readonly matchedBefore: readonly string[];
  /** Examples: covered if risk and rule are the same. */
  readonly wouldMatch: readonly string[];
  /** Examples that are never covered. */
  readonly wouldNotMatch: readonly string[];
}

export type Answer =
  | {
      readonly type: "yes";
      readonly scope: ConfirmationScope;
      readonly by: string;
      /** Id of the offered pattern that was chosen; absent: the exact action. */
      readonly pattern?: string;
      /** Set when an earlier answer lets the call pass: the call it was given to, and the pattern's text if it was for one. */
      readonly remembered?: { readonly callId: string; readonly pattern?: string };
    }
  | { readonly type: "no"; readonly reason: string; readonly by: string }
  /** Nobody answered in time, or nobody could be asked. Never recorded as the user's word. */
  | { readonly type: "timeout" }
  | { readonly type: "nobody" };

/** Asks a person. Resolves exactly once; rejects only when the signal aborts. */
export interface Confirmer {
  ask(question: Question, options: { readonly signal: AbortSignal }): Promise<Answer>;
}
