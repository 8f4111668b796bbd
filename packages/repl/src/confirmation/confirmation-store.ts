import type { ConfirmationQuestion, ConfirmationReply, RequestOptions } from "@gennai/client/connection/editor";
import type { UserQuestion, UserReply } from "@gennai/protocol/model/session/user-question";
import { OpenRequests } from "./open-requests.ts";

/** Questions of the gate. */
export class ConfirmationStore extends OpenRequests<ConfirmationQuestion, ConfirmationReply> {
  constructor() {
    super(({ requestId }) => requestId);
  }

  readonly confirm = (question: ConfirmationQuestion, options: RequestOptions) => this.ask(question, options);

  /** Stops the countdown of a request. */
  waits(requestId: string): void {
    this.change((open) => open.map((each) => (each.requestId === requestId ? { ...each, deadline: undefined } : each)));
  }
}

/** Questions of the model that wait for a person and are answered together. */
export interface AskedQuestions {
  readonly id: string;
  readonly questions: readonly UserQuestion[];
}

/** Questions of the model. */
export class UserQuestionStore extends OpenRequests<AskedQuestions, UserReply> {
  constructor() {
    super(({ id }) => id);
  }

  readonly askUser = ({ questions }: Pick<AskedQuestions, "questions">, options: RequestOptions) =>
    this.ask({ id: crypto.randomUUID(), questions }, options);
}
