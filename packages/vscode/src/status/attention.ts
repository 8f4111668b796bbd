import { plainMessage } from "../editor/plain-message.ts";

/** The functions of the window that notifications need. */
export interface AttentionPorts {
  /** True if the user sees the question anyway, or wants no notifications. */
  isSeen(): boolean;
  /** Shows a notification that stays until it is closed. */
  show(message: string): ShownNotification;
  now(): number;
  /** Calls back after some milliseconds. @returns a function that cancels */
  after(milliseconds: number, callback: () => void): () => void;
}

export interface ShownNotification {
  /** Replaces the message. */
  say(message: string): void;
  close(): void;
}

/** Milliseconds over which questions share one notification; and from one until the next, even if the user closed the first. */
const gather = 700;
const pauseBetween = 15_000;

/**
 * Notifies a user who is not looking that the agent waits: with one notification for all questions. It names the oldest question,
 * and disappears when nothing waits any more or the questions are seen.
 */
export class Attention implements Disposable {
  readonly #ports: AttentionPorts;
  #open: ReadonlyMap<string, string> = new Map();
  #cancel: (() => void) | undefined;
  #shown:
    | { readonly ids: ReadonlySet<string>; readonly since: number; readonly notification: ShownNotification }
    | undefined;

  constructor(ports: AttentionPorts) {
    this.#ports = ports;
  }

  /**
   * Must be called whenever a question comes or goes, and when the REPL is shown or hidden.
   *
   * @param open the questions that wait now, oldest first: id, and what is asked, without secrets
   */
  update(open: ReadonlyMap<string, string>): void {
    this.#open = open;
    if (open.size === 0 || this.#ports.isSeen()) {
      this.#cancel?.();
      this.#cancel = undefined;
      this.#shown?.notification.close();
      this.#shown = undefined;
      return;
    }
    const { ids } = this.#shown ?? {};
    // An answered question must not stay in the message.
    this.#shown?.notification.say(this.#message());
    if ([...open.keys()].every((id) => ids?.has(id) === true)) return;
    const since = this.#shown?.since ?? Number.NEGATIVE_INFINITY;
    const wait = Math.max(gather, since + pauseBetween - this.#ports.now());
    this.#cancel ??= this.#ports.after(wait, () => {
      this.#cancel = undefined;
      this.#tell();
    });
  }

  [Symbol.dispose](): void {
    this.update(new Map());
  }

  /** Shows a new notification for a new question: the user may have closed the earlier one. */
  #tell(): void {
    if (this.#ports.isSeen()) return;
    this.#shown?.notification.close();
    const notification = this.#ports.show(this.#message());
    this.#shown = { ids: new Set(this.#open.keys()), since: this.#ports.now(), notification };
  }

  #message(): string {
    const [first = ""] = this.#open.values();
    const more = this.#open.size - 1;
    return more === 0 ? plainMessage(first) : `${plainMessage(first)} (and ${more} more)`;
  }
}
