import type { ConfirmationQuestion, Editor } from "@gennai/client/connection/editor";
import type { UserQuestion } from "@gennai/protocol/model/session/user-question";

/** Asks the questions of attempts together with those of the session, each with the number of its attempt. */
export interface AttemptQuestions {
  readonly confirm: NonNullable<Editor["confirm"]>;
  readonly askUser: NonNullable<Editor["askUser"]>;
  /** The person asked for more time to answer. */
  waits(requestId: string): void;
  /** @param sessionId session of the attempt that asks: it is told if the person asks for more time */
  asked(requestId: string, sessionId: string): void;
}

export function namedQuestion(question: ConfirmationQuestion, number: number): ConfirmationQuestion {
  return { ...question, title: `Attempt ${number}: ${question.title}` };
}

export function namedUserQuestions(questions: readonly UserQuestion[], number: number): readonly UserQuestion[] {
  return questions.map((each) => ({
    ...each,
    header: each.header === "" ? `Attempt ${number}` : `Attempt ${number}: ${each.header}`,
  }));
}
