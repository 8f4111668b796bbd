import { plainMessage } from "../editor/plain-message.ts";
import type { ViolationFacts } from "../session/session-facts.ts";

/** What the notifications of blocked calls need of the window. */
export interface BlockedCallsPorts {
  /** True when the user wants none. */
  isQuiet(): boolean;
  /** Resolves with the button that was chosen; undefined: none, and the notification is gone. */
  show(message: string, buttons: readonly string[]): Promise<string | undefined>;
  /** Opens the rule that blocked a call. */
  showRule(call: ViolationFacts): Promise<void>;
  /** Reports none from now on. */
  quiet(): Promise<void>;
  /** Calls back after milliseconds; gives back how to call it off. */
  after(milliseconds: number, callback: () => void): () => void;
}

/**
 * Milliseconds: calls blocked within this time share one notification. The second value is the minimum between two
 * notifications.
 */
const gather = 500;
const pauseBetween = 10_000;

export const showRuleButton = "Show rule";
export const quietButton = "Don't tell again";

/** Reports each thing that damage control blocked once, however often the model tries it, and of many at once. */
export class BlockedCalls implements Disposable {
  readonly #ports: BlockedCallsPorts;
  readonly #told = new Set<string>();
  #waiting: ViolationFacts[] = [];
  #cancel: (() => void) | undefined;

  constructor(ports: BlockedCallsPorts) {
    this.#ports = ports;
  }

  add(call: ViolationFacts): void {
    const what = JSON.stringify([call.rule, call.tool, call.words]);
    if (this.#told.has(what)) return;
    this.#told.add(what);
    this.#waiting.push(call);
    this.#cancel ??= this.#ports.after(gather, () => this.#tell());
  }

  /** Call it when another session is followed: earlier reports do not apply to it. */
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

  /** @param count of the calls that it reports */
  async #show(last: ViolationFacts, count: number): Promise<void> {
    const what = count === 1 ? last.tool : `${count} calls, the last one`;
    const message = `🛡️ Damage-Control blocked ${what}: ${plainMessage(last.words)}. ${plainMessage(last.reason)}`;
    const chosen = await this.#ports.show(message, [showRuleButton, quietButton]);
    if (chosen === showRuleButton) await this.#ports.showRule(last);
    if (chosen === quietButton) await this.#ports.quiet();
  }
}
