import type { RequestOptions } from "@gennai/client/connection/editor";
import type { UserQuestion, UserReply } from "@gennai/protocol/model/session/user-question";
import { type ReadonlySignal, signal } from "@preact/signals";

/** Questions of the model that wait for a person and are answered together. */
export interface AskedQuestions {
  readonly id: string;
  readonly questions: readonly UserQuestion[];
}

/**
 * Questions of the model, oldest first. `askUser` is an editor's ability; the component that shows the questions answers them
 * here. Questions that were settled elsewhere are removed by their signal.
 */
export class UserQuestionStore {
  readonly #open = signal<readonly AskedQuestions[]>([]);
  readonly open: ReadonlySignal<readonly AskedQuestions[]> = this.#open;
  readonly #waiting = new Map<string, (reply: UserReply) => void>();

  /** Rejects when the signal aborts; then nothing was answered here. */
  readonly askUser = async (
    { questions }: { readonly questions: readonly UserQuestion[] },
    { signal: over }: RequestOptions,
  ): Promise<UserReply> => {
    over.throwIfAborted();
    const id = crypto.randomUUID();
    const { promise, resolve, reject } = Promise.withResolvers<UserReply>();
    const leave = () => reject(over.reason);
    over.addEventListener("abort", leave, { once: true });
    this.#waiting.set(id, resolve);
    this.#open.value = [...this.#open.peek(), { id, questions }];
    try {
      return await promise;
    } finally {
      over.removeEventListener("abort", leave);
      this.#waiting.delete(id);
      this.#open.value = this.#open.peek().filter((other) => other.id !== id);
    }
  };

  /** A person's answer. */
  answer(id: string, reply: UserReply): void {
    this.#waiting.get(id)?.(reply);
  }
}
