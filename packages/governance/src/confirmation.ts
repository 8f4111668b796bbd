import type { ConfirmationScope, Question as ShownQuestion } from "@gennai/protocol/model/governance/question";

/** The one question that all asks of a call become. */
export interface Question extends ShownQuestion {
  readonly turnId: string;
  readonly toolName: string;
  /** Milliseconds for the answer, where less than for other questions. */
  readonly answerMs?: number;
}

export type Answer =
  | {
      readonly type: "yes";
      readonly scope: ConfirmationScope;
      readonly by: string;
      /** Id of the offered pattern that was chosen; absent: the exact action. */
      readonly pattern?: string;
      /** Ids of offered parts that shall not be kept; absent: all of them shall. */
      readonly dropped?: readonly string[];
      /** Set when an earlier answer lets the call pass: the call it was given to, and the pattern's text if it was for one. */
      readonly remembered?: { readonly callId: string; readonly pattern?: string };
    }
  /**
   * Of a call that another agent makes by itself: that agent asks its own user now, and runs it after a yes. Nobody has agreed yet, and
   * what is said there is not known here.
   */
  | { readonly type: "passed-on"; readonly by: string }
  | { readonly type: "no"; readonly reason: string; readonly by: string }
  /** Somebody answered, and it was neither yes nor no. */
  | { readonly type: "unclear"; readonly by: string }
  /** Nobody answered in time, or nobody could be asked. Never recorded as the user's word. */
  | { readonly type: "timeout" }
  | { readonly type: "nobody" };

/** Asks a person. Resolves exactly once; rejects only when the signal aborts. */
export interface Confirmer {
  ask(question: Question, options: { readonly signal: AbortSignal }): Promise<Answer>;
}
