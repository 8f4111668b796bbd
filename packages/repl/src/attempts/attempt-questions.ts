import type { ConfirmationQuestion, Editor } from "@gennai/client/bridge/editor";
import type { UserQuestion } from "@gennai/protocol/model/governance/user-question";

/** Where questions of attempts are asked: with those of the session, each with the number of its attempt. */
export interface AttemptQuestions {
  readonly confirm: NonNullable<Editor["confirm"]>;
  readonly askUser: NonNullable<Editor["askUser"]>;
  /** A person wants to be waited for. */
  waits(requestId: string): void;
  /** @param sessionId whose question it is: where one says that one wants to be waited for */
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
