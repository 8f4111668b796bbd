import type { LoggedEvent } from "@gennai/agent/events/session-event";

/** What is held for a reader that has not come back yet; beyond it the reader is sent to the store. */
const maxQueued = 256;
const maxQueuedCharacters = 262_144;

/** Who follows which session. Hands new events over directly, and only wakes those who must read the store. */
export class EventTails {
  readonly #tails = new Map<string, Set<EventTail>>();
  #open = true;

  get isOpen(): boolean {
    return this.#open;
  }

  get isEmpty(): boolean {
    return this.#tails.size === 0;
  }

  add(sessionId: string): EventTail {
    const tails = this.#tails.get(sessionId) ?? new Set();
    this.#tails.set(sessionId, tails);
    const tail = new EventTail(() => {
      tails.delete(tail);
      if (tails.size === 0 && this.#tails.get(sessionId) === tails) this.#tails.delete(sessionId);
    });
    tails.add(tail);
    return tail;
  }

  /** @param characters that the events take in the store */
  publish(sessionId: string, events: readonly LoggedEvent[], characters: number): void {
    for (const tail of this.#tails.get(sessionId) ?? []) tail.push(events, characters);
  }

  /** Sends anyone who follows the session to the store. */
  wake(sessionId: string): void {
    for (const tail of this.#tails.get(sessionId) ?? []) tail.wake();
  }

  wakeAll(): void {
    for (const tails of this.#tails.values()) for (const tail of tails) tail.wake();
  }

  close(): void {
    this.#open = false;
    this.wakeAll();
  }
}

export class EventTail implements Disposable {
  readonly #remove: () => void;
  #queue: LoggedEvent[] = [];
  #characters = 0;
  #woken = false;
  /** The store may hold what was not pushed: at the beginning, after a gap, when another process wrote. */
  #behind = true;
  #resolve: (() => void) | undefined;

  constructor(remove: () => void) {
    this.#remove = remove;
  }

  push(events: readonly LoggedEvent[], characters: number): void {
    this.#characters += characters;
    if (this.#queue.length + events.length <= maxQueued && this.#characters <= maxQueuedCharacters) {
      this.#queue.push(...events);
    } else {
      // A gap is fine: the reader goes to the store.
      this.#queue = [];
      this.#characters = 0;
      this.#behind = true;
    }
    this.#wakeReader();
  }

  /** The store has more, or the tail is over. */
  wake(): void {
    this.#behind = true;
    this.#wakeReader();
  }

  /** Lets whoever wrote go on first: the next request to a model need not wait until readers are told. */
  #wakeReader(): void {
    this.#woken = true;
    const resolve = this.#resolve;
    if (resolve !== undefined) setImmediate(resolve);
    this.#resolve = undefined;
  }

  /** What was pushed and follows `seq` without a gap; undefined when the store must be read. */
  takeAfter(seq: number): readonly LoggedEvent[] | undefined {
    const queue = this.#queue;
    this.#queue = [];
    this.#characters = 0;
    const newer = queue.findIndex((event) => event.seq > seq);
    if (newer !== -1) {
      const end = queue.findIndex((event, index) => index >= newer && event.seq !== seq + 1 + index - newer);
      if (end !== -1) this.#behind = true;
      const events = queue.slice(newer, end === -1 ? undefined : end);
      if (events.length > 0) return events;
    }
    return this.#behind ? undefined : [];
  }

  /** The store was read in this tick and has nothing newer: from here on, what is pushed is all there is. */
  caughtUp(): void {
    this.#behind = false;
  }

  /** Resolves when something happened since the last call. */
  async changed(): Promise<void> {
    if (!this.#woken) await new Promise<void>((resolve) => (this.#resolve = resolve));
    this.#woken = false;
  }

  [Symbol.dispose](): void {
    this.#queue = [];
    this.#remove();
  }
}
