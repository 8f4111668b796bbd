/** Milliseconds for which a question must have been visible before it can be answered. */
export const armingMilliseconds = 500;

/**
 * Decides whether a click is an answer. A click counts if it began on the button itself, after the question had been shown long
 * enough: a key that was already down or repeats, and a click meant for what was there before, do not count.
 */
export class Arming {
  #armed = false;
  #begun: string | undefined;

  set armed(armed: boolean) {
    this.#armed = armed;
    if (!armed) this.#begun = undefined;
  }

  /** A pointer or key went down on a button. @param button its name */
  begin(button: string, options: { readonly repeat: boolean }): void {
    if (options.repeat) return;
    this.#begun = this.#armed ? button : undefined;
  }

  /** The click that followed; true if it is an answer. */
  takes(button: string): boolean {
    const taken = this.#armed && this.#begun === button;
    this.#begun = undefined;
    return taken;
  }

  /** The pointer left all buttons before the click, or the focus left this button, which may be the pressed one. */
  leave(button?: string): void {
    if (button === undefined || button === this.#begun) this.#begun = undefined;
  }
}
