import type { ConfirmationScope, Question as ShownQuestion } from "@gennai/protocol/model/governance/question";

/** The one question that all asks of a call become. */
export interface Question extends ShownQuestion {
  readonly turnId: string;
  readonly toolName: string;
  /** Milliseconds for the answer, where less than for other questions. */
  readonly answerMs?: number;
  /** A yes counts only with the yes of another person, and only once. */
  readonly secondPerson?: true;
}

/** `first`: of a second person's answer, who had agreed before. */
export type Answer =
  | {
      readonly type: "yes";
      readonly scope: ConfirmationScope;
      readonly by: string;
      /** Id of the offered pattern that was chosen; absent: the exact action. */
      readonly pattern?: string;
      /** Ids of offered parts not to keep; absent: all are kept. */
      readonly dropped?: readonly string[];
      /** The other person who agreed, where two were needed, and when: milliseconds since the epoch. */
      readonly second?: { readonly by: string; readonly at: number };
      /** Set when an earlier answer lets the call pass: the call it was given to, and the pattern's text if it was for one. */
      readonly remembered?: { readonly callId: string; readonly pattern?: string };
    }
  /**
   * For a call by another agent: that agent now asks its own user, and runs the call after a yes. Nobody has agreed yet, and
   * the answer is not known here.
   */
  | { readonly type: "passed-on"; readonly by: string }
  | { readonly type: "no"; readonly reason: string; readonly by: string; readonly first?: { readonly by: string } }
  /** The answer was neither yes nor no. */
  | { readonly type: "unclear"; readonly by: string }
  /** There was no answer in time, or nobody to ask. Never recorded as the user's answer. */
  | { readonly type: "timeout"; readonly first?: { readonly by: string } }
  | { readonly type: "nobody" };

/** Asks a person. Resolves exactly once; rejects only when the signal aborts. */
export interface Confirmer {
  ask(question: Question, options: { readonly signal: AbortSignal }): Promise<Answer>;
}
