import type { SettingsChoice } from "@gennai/protocol/model/session/session-settings";

/** Settings that were chosen and are not in force yet: no session is shown, or the server has not answered. */
export class UnsettledChoice {
  #early: SettingsChoice | undefined;
  #changing: Promise<boolean> | undefined;

  /** Keeps settings for the next session that is shown. */
  keep(choice: SettingsChoice): void {
    this.#early = { ...this.#early, ...choice };
  }

  /** Returns what was kept, and forgets it; undefined: nothing. */
  take(): SettingsChoice | undefined {
    const early = this.#early;
    this.#early = undefined;
    return early;
  }

  /** Runs after earlier changes, so that the last choice wins. @param work never rejects; false: the server refused */
  async change(work: () => Promise<boolean>): Promise<boolean> {
    const changing = (this.#changing ?? Promise.resolve(true)).then(work);
    this.#changing = changing;
    const changed = await changing;
    if (this.#changing === changing) this.#changing = undefined;
    return changed;
  }

  /** Resolves when the server has accepted; rejects if it refused: a turn must not run with other settings than chosen. */
  async inForce(): Promise<void> {
    if ((await this.#changing) === false)
      throw new Error("What you chose before is not in force. Choose again, or send again.");
  }
}
