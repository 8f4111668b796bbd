import type { TurnSink } from "@gennai/agent/loop/turn-sink";
import { ServiceError } from "@gennai/machine/service-error";
import type { BlobRef } from "@gennai/protocol/model/session/proposal";
import type { QueuedMessage } from "@gennai/protocol/model/session/queued-message";
import type { SessionWriter } from "./log/session-writer.ts";
import type { SessionState } from "./state/session-state.ts";

/** Messages of one turn that wait at the same time. */
const maxWaiting = 32;

export interface QueuedMessagesOptions {
  readonly state: SessionState;
  readonly writer: () => SessionWriter;
  /** Makes the session's log ours where no turn runs; rejects with `ServiceError` where it is another server's. */
  readonly catchUp: () => Promise<void>;
}

/**
 * What people say to the turn that runs. A message is durable before anybody is told that it was taken, and then has one of three
 * ends: the model is told it with its next call, somebody takes it back, or its turn ends before, and it stays to be taken back.
 */
export class QueuedMessages {
  readonly #options: QueuedMessagesOptions;
  /** The turn that takes messages. */
  #turnId: string | undefined;
  /** On their way into the log. */
  readonly #adding = new Map<string, Promise<void>>();
  /** Being told to the model, or taken back: nobody else gets them. */
  readonly #taken = new Set<string>();

  constructor(options: QueuedMessagesOptions) {
    this.#options = options;
  }

  /** From now on the turn takes messages, until it is disposed or `hasMore` says no. */
  open(turnId: string): Disposable {
    this.#turnId = turnId;
    return {
      [Symbol.dispose]: () => {
        if (this.#turnId === turnId) this.#turnId = undefined;
      },
    };
  }

  /**
   * Keeps a message for the running turn; resolves with the turn's id when it is durable. The same id again is the same message.
   * Rejects with `ServiceError` when no turn takes any.
   */
  async add(
    messageId: string,
    message: { readonly text: string; readonly images: readonly BlobRef[] },
  ): Promise<string> {
    const { state, writer } = this.#options;
    await this.#adding.get(messageId);
    const known = state.messageTurns.get(messageId);
    if (known !== undefined) return known;
    const turnId = this.#turnId;
    if (turnId === undefined) {
      throw new ServiceError("failed_precondition", "No turn is running that could take a message.", {
        reason: "no_turn_listens",
        hint: "Start a turn with it.",
      });
    }
    if (this.#waiting(turnId).length + this.#adding.size >= maxWaiting) {
      throw new ServiceError("resource_exhausted", `${maxWaiting} messages wait for the model's next call already.`, {
        reason: "too_many_messages",
      });
    }
    const adding = writer()
      .commit([{ type: "message-queued", messageId, ...message }], { turnId, durable: true })
      .finally(() => this.#adding.delete(messageId));
    this.#adding.set(messageId, adding);
    await adding;
    return turnId;
  }

  /** Takes a message back that no model was told; durable when it resolves. Rejects with `ServiceError` for any other. */
  async withdraw(messageId: string): Promise<QueuedMessage> {
    const { state, writer, catchUp } = this.#options;
    await catchUp();
    const message = state.queuedMessages.get(messageId);
    if (message === undefined || this.#taken.has(messageId)) {
      if (!state.messageTurns.has(messageId)) {
        throw new ServiceError("not_found", "This session has no such message.");
      }
      throw new ServiceError("already_exists", "The model has this message already, or somebody took it back.", {
        reason: "message_gone",
      });
    }
    this.#taken.add(messageId);
    try {
      await writer().commit([{ type: "message-withdrawn", messageId }], { turnId: "", durable: true });
    } finally {
      this.#taken.delete(messageId);
    }
    return message;
  }

  /** Whether the model has something to be told. After false, the turn takes nothing more. */
  hasMore(turnId: string): boolean {
    if (this.#adding.size > 0 || this.#waiting(turnId).length > 0) return true;
    if (this.#turnId === turnId) this.#turnId = undefined;
    return false;
  }

  /**
   * Puts what waits behind the conversation, in its order. Call it before a model call.
   * @param attach adds what belongs to the message that stands last
   */
  async deliver(
    turnId: string,
    sink: Pick<TurnSink, "emit" | "flush">,
    attach: (text: string) => Promise<void>,
  ): Promise<void> {
    await Promise.allSettled(this.#adding.values());
    const messages = this.#waiting(turnId);
    for (const { messageId } of messages) this.#taken.add(messageId);
    try {
      for (const { messageId, text, images } of messages) {
        sink.emit({
          type: "user-message",
          text,
          scenario: "",
          clientTurnId: "",
          enableThinking: false,
          images,
          messageId,
        });
        await attach(text);
      }
      await sink.flush();
    } finally {
      for (const { messageId } of messages) this.#taken.delete(messageId);
    }
  }

  #waiting(turnId: string): readonly QueuedMessage[] {
    return [...this.#options.state.queuedMessages.values()].filter(
      (message) => message.turnId === turnId && !this.#taken.has(message.messageId),
    );
  }
}
