import { plainMessage } from "../editor/plain-message.ts";

/** What the notifications need of the window. */
export interface AttentionPorts {
  /** True when the user sees the question anyway, or wants no notifications. */
  isSeen(): boolean;
  /** Shows a notification that stays until it is closed. */
  show(message: string): ShownNotification;
  now(): number;
  /** Calls back after milliseconds; gives back how to call it off. */
  after(milliseconds: number, callback: () => void): () => void;
}

export interface ShownNotification {
  /** Says something else in place. */
  say(message: string): void;
  close(): void;
}

/** Milliseconds: questions that arrive together are one notification; and one that the user put away stays away as long. */
const gather = 700;
const pauseBetween = 15_000;

/**
 * Tells the user that the agent waits, when nobody looks: one notification, however many questions there are. It names the
 * oldest, and goes away as soon as nothing waits or the questions are seen.
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
   * To be told whenever a question comes or goes, and when the REPL is shown or hidden.
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
    // What was answered is not named for a moment longer.
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

  /** A new question is shown anew: what was shown before may have been put away. */
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
