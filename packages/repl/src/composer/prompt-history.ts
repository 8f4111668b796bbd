/** Steps through earlier prompts, and back to the text that was being written. */
export class PromptHistory {
  #prompts: readonly string[] = [];
  #at = -1;
  #written = "";

  get browsing(): boolean {
    return this.#at >= 0;
  }

  /**
   * @param steps 1 to an earlier prompt, -1 to a later one
   * @param written present text of the box
   * @param prompts newest first; called at the first step
   * @returns new text of the box; undefined: there is nothing in that direction
   */
  move(steps: 1 | -1, written: string, prompts: () => readonly string[]): string | undefined {
    if (this.#at < 0) {
      this.#prompts = prompts();
      this.#written = written;
    }
    const to = this.#at + steps;
    if (to < -1 || to >= this.#prompts.length) return undefined;
    this.#at = to;
    return to === -1 ? this.#written : this.#prompts[to];
  }

  /** The user types: the text of the box is new, and stepping starts again. */
  leave(): void {
    this.#at = -1;
  }
}
