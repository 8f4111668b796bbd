import type { Conversation } from "@gennai/agent/conversation/conversation";
import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { SessionWriter } from "../session/log/session-writer.ts";

export type EventWriter = Pick<SessionWriter, "emit" | "commit">;

/**
 * Writes a sub-agent's events into the session's log, under the call that runs it, and folds them into the sub-agent's own
 * conversation only.
 */
export class NestedWriter implements EventWriter {
  readonly #writer: EventWriter;
  readonly #parentToolCallId: string;
  readonly #conversation: Conversation;

  constructor(writer: EventWriter, parentToolCallId: string, conversation: Conversation) {
    this.#writer = writer;
    this.#parentToolCallId = parentToolCallId;
    this.#conversation = conversation;
  }

  emit(event: SessionEvent, place: { readonly turnId: string; readonly itemId?: string }): void {
    this.fold(event);
    // The model chooses item ids, and two sub-agents may choose the same.
    const item = place.itemId === undefined ? {} : { itemId: `${this.#parentToolCallId}/${place.itemId}` };
    this.#writer.emit(this.#marked(event), { turnId: place.turnId, ...item });
  }

  async commit(events: readonly SessionEvent[], options: Parameters<EventWriter["commit"]>[1]): Promise<void> {
    await this.#writer.commit(
      events.map((event) => this.#marked(event)),
      options,
    );
    for (const event of events) this.fold(event);
  }

  /** For events that are not logged. */
  fold(event: SessionEvent): void {
    this.#conversation.apply({ seq: 0, turnId: "", itemId: "", time: 0, event });
  }

  #marked(event: SessionEvent): SessionEvent {
    return { ...event, parentToolCallId: this.#parentToolCallId };
  }
}
