import type { TurnSink } from "@gennai/agent/loop/turn-sink";
import { ServiceError } from "@gennai/machine/service-error";
import type { BlobRef } from "@gennai/protocol/model/session/proposal";
import type { QueuedMessage } from "@gennai/protocol/model/session/queued-message";
import type { SessionWriter } from "./session-writer.ts";
import type { SessionState } from "./state/session-state.ts";

/** Maximum waiting messages of one turn. */
const maxWaiting = 32;

export interface QueuedMessagesOptions {
  readonly state: SessionState;
  readonly writer: () => SessionWriter;
  /** Makes the session's log ours if no turn runs; rejects with `ServiceError` if another server owns it. */
  readonly catchUp: () => Promise<void>;
}

/**
 * Messages from users to the running turn. A message is durable before it is acknowledged, and then has one of three ends: the
 * model gets it with its next call, it is withdrawn, or its turn ends first and it stays, so that it can be withdrawn.
 */
export class QueuedMessages {
  readonly #options: QueuedMessagesOptions;
  /** The turn that accepts messages. */
  #turnId: string | undefined;
  /** Messages being written to the log. */
  readonly #adding = new Map<string, Promise<void>>();
  /** Messages being delivered or withdrawn; no other caller may take them. */
  readonly #taken = new Set<string>();

  constructor(options: QueuedMessagesOptions) {
    this.#options = options;
  }

  /** The turn accepts messages from now on, until it is disposed or `hasMore` returns false. */
  open(turnId: string): Disposable {
    this.#turnId = turnId;
    return {
      [Symbol.dispose]: () => {
        if (this.#turnId === turnId) this.#turnId = undefined;
      },
    };
  }

  /**
   * Stores a message for the running turn; resolves with the turn's id when it is durable. A repeated id is the same message.
   * Rejects with `ServiceError` if no turn accepts messages.
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

  /** Withdraws a message that no model got; durable when it resolves. Otherwise rejects with `ServiceError`. */
  async withdraw(messageId: string): Promise<QueuedMessage> {
    const { state, writer, catchUp } = this.#options;
    await catchUp();
    const message = state.queuedMessages.get(messageId);
    if (message === undefined || this.#taken.has(messageId)) {
      if (!state.messageTurns.has(messageId)) {
        throw new ServiceError("not_found", "This session has no such message.");
      }
      throw new ServiceError("already_exists", "The model has this message already, or somebody withdrew it.", {
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

  /** Whether messages wait for the model. After false, the turn accepts no more. */
  hasMore(turnId: string): boolean {
    if (this.#adding.size > 0 || this.#waiting(turnId).length > 0) return true;
    if (this.#turnId === turnId) this.#turnId = undefined;
    return false;
  }

  /**
   * Appends waiting messages to the conversation, in order. Call it before a model call.
   * @param attach adds the context of the message that is now last
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
