import type { Risk } from "./risk.ts";

/** How long a yes lasts. High risk is only ever answered `once`. */
export type ConfirmationScope = "once" | "turn" | "session";

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
}

export type Answer =
  | { readonly type: "yes"; readonly scope: ConfirmationScope; readonly by: string }
  | { readonly type: "no"; readonly reason: string; readonly by: string }
  /** Nobody answered in time, or nobody could be asked. Never recorded as the user's word. */
  | { readonly type: "timeout" }
  | { readonly type: "nobody" };

/** Asks a person. Resolves exactly once; rejects only when the signal aborts. */
export interface Confirmer {
  ask(question: Question, options: { readonly signal: AbortSignal }): Promise<Answer>;
}
