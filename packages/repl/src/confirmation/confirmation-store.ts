import type { ConfirmationQuestion, ConfirmationReply, RequestOptions } from "@gennai/client/connection/editor";
import { type ReadonlySignal, signal } from "@preact/signals";

/**
 * Questions that wait for a person, oldest first. `confirm` is an editor's ability: it opens a question, and the component that
 * shows the questions answers them here. A question that was settled elsewhere is removed by its signal.
 */
export class ConfirmationStore {
  readonly #open = signal<readonly ConfirmationQuestion[]>([]);
  readonly open: ReadonlySignal<readonly ConfirmationQuestion[]> = this.#open;
  readonly #waiting = new Map<string, PromiseWithResolvers<ConfirmationReply>>();

  /** Rejects when the signal aborts; then it was not answered here. */
  readonly confirm = async (
    question: ConfirmationQuestion,
    { signal: over }: RequestOptions,
  ): Promise<ConfirmationReply> => {
    over.throwIfAborted();
    const { requestId } = question;
    // If a question is asked twice, the newest call counts, because the server waits for that one.
    this.#waiting.get(requestId)?.reject(new Error("The question was asked again."));
    const waiting = Promise.withResolvers<ConfirmationReply>();
    this.#waiting.set(requestId, waiting);
    this.#open.value = [...this.#open.peek().filter((other) => other.requestId !== requestId), question];
    const leave = () => waiting.reject(over.reason);
    over.addEventListener("abort", leave, { once: true });
    try {
      return await waiting.promise;
    } finally {
      over.removeEventListener("abort", leave);
      if (this.#waiting.get(requestId) === waiting) {
        this.#waiting.delete(requestId);
        this.#open.value = this.#open.peek().filter((other) => other.requestId !== requestId);
      }
    }
  };

  /** Stops the countdown of a request. */
  waits(requestId: string): void {
    this.#open.value = this.#open
      .peek()
      .map((each) => (each.requestId === requestId ? { ...each, deadline: undefined } : each));
  }

  /** A person's answer. False if the question is over; then nothing was answered. */
  answer(requestId: string, reply: ConfirmationReply): boolean {
    const waiting = this.#waiting.get(requestId);
    waiting?.resolve(reply);
    return waiting !== undefined;
  }
}
