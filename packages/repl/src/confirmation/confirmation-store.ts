import type { ConfirmationQuestion, ConfirmationReply, RequestOptions } from "@gennai/client/connection/editor";
import type { UserQuestion, UserReply } from "@gennai/protocol/model/session/user-question";
import { type ReadonlySignal, signal } from "@preact/signals";

/**
 * What waits for a person, oldest first: an editor's ability opens it with `ask`, and the component that shows it answers here. What
 * was settled elsewhere is removed by its signal.
 */
class OpenRequests<Request, Reply> {
  readonly #open = signal<readonly Request[]>([]);
  readonly open: ReadonlySignal<readonly Request[]> = this.#open;
  readonly #waiting = new Map<string, PromiseWithResolvers<Reply>>();
  readonly #idOf: (request: Request) => string;

  constructor(idOf: (request: Request) => string) {
    this.#idOf = idOf;
  }

  /** A person's answer. False if the request is over; then nothing was answered. */
  answer(id: string, reply: Reply): boolean {
    const waiting = this.#waiting.get(id);
    waiting?.resolve(reply);
    return waiting !== undefined;
  }

  /** Rejects when the signal aborts; then it was not answered here. */
  protected async ask(request: Request, { signal: over }: RequestOptions): Promise<Reply> {
    over.throwIfAborted();
    const id = this.#idOf(request);
    // What is asked twice is answered to the newest call, because the server waits for that one.
    this.#waiting.get(id)?.reject(new Error("The question was asked again."));
    const waiting = Promise.withResolvers<Reply>();
    this.#waiting.set(id, waiting);
    this.change((open) => [...open.filter((other) => this.#idOf(other) !== id), request]);
    const leave = () => waiting.reject(over.reason);
    over.addEventListener("abort", leave, { once: true });
    try {
      return await waiting.promise;
    } finally {
      over.removeEventListener("abort", leave);
      if (this.#waiting.get(id) === waiting) {
        this.#waiting.delete(id);
        this.change((open) => open.filter((other) => this.#idOf(other) !== id));
      }
    }
  }

  protected change(to: (open: readonly Request[]) => readonly Request[]): void {
    this.#open.value = to(this.#open.peek());
  }
}

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
