import type { Violation } from "@gennai/client/view/items/view-item";
import { plainMessage } from "../editor/plain-message.ts";

/** The functions of the window that notifications of blocked calls need. */
export interface BlockedCallsPorts {
  /** True if the user wants no notifications. */
  isQuiet(): boolean;
  /** Resolves with the chosen button; undefined: the notification was closed without one. */
  show(message: string, buttons: readonly string[]): Promise<string | undefined>;
  /** Opens the rule that blocked a call. */
  showRule(call: Violation): Promise<void>;
  /** Shows no such notification from now on. */
  quiet(): Promise<void>;
  /** Calls back after some milliseconds. @returns a function that cancels */
  after(milliseconds: number, callback: () => void): () => void;
}

/**
 * Milliseconds. `gather`: calls blocked within this time share one notification. `pauseBetween`: the least time between two
 * notifications.
 */
const gather = 500;
const pauseBetween = 10_000;

export const showRuleButton = "Show rule";
export const quietButton = "Don't tell again";

/** Reports each blocked call once, however often the model repeats it, and many calls in one notification. */
export class BlockedCalls implements Disposable {
  readonly #ports: BlockedCallsPorts;
  readonly #told = new Set<string>();
  #waiting: Violation[] = [];
  #cancel: (() => void) | undefined;

  constructor(ports: BlockedCallsPorts) {
    this.#ports = ports;
  }

  add(call: Violation): void {
    const what = JSON.stringify([call.rule, call.tool, call.words]);
    if (this.#told.has(what)) return;
    this.#told.add(what);
    this.#waiting.push(call);
    this.#cancel ??= this.#ports.after(gather, () => this.#tell());
  }

  /** To be called when another session is followed: earlier reports do not count for it. */
  forget(): void {
    this.#told.clear();
    this.#waiting = [];
  }

  [Symbol.dispose](): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.forget();
  }

  #tell(): void {
    this.#cancel = undefined;
    const { length } = this.#waiting;
    const last = this.#waiting.at(-1);
    this.#waiting = [];
    if (last === undefined) return;
    this.#cancel = this.#ports.after(pauseBetween, () => this.#tell());
    if (!this.#ports.isQuiet()) void this.#show(last, length);
  }

  /** @param count number of calls that the notification reports */
  async #show(last: Violation, count: number): Promise<void> {
    const what = count === 1 ? last.tool : `${count} calls, the last one`;
    const message = `🛡️ Damage-Control blocked ${what}: ${plainMessage(last.words)}. ${plainMessage(last.reason)}`;
    const chosen = await this.#ports.show(message, [showRuleButton, quietButton]);
    if (chosen === showRuleButton) await this.#ports.showRule(last);
    if (chosen === quietButton) await this.#ports.quiet();
  }
}
