import type { SettingsChoice } from "@gennai/protocol/model/session/session-settings";

/** What was chosen and is not in force yet: no session is shown that it could hold for, or the server has not answered. */
export class UnsettledChoice {
  #early: SettingsChoice | undefined;
  #changing: Promise<boolean> | undefined;

  /** For the session that is shown first. */
  keep(choice: SettingsChoice): void {
    this.#early = { ...this.#early, ...choice };
  }

  /** What was kept; undefined: nothing. It is kept no longer. */
  take(): SettingsChoice | undefined {
    const early = this.#early;
    this.#early = undefined;
    return early;
  }

  /** After the changes before it: what is chosen last holds. @param work never rejects; false: the server would not */
  async change(work: () => Promise<boolean>): Promise<boolean> {
    const changing = (this.#changing ?? Promise.resolve(true)).then(work);
    this.#changing = changing;
    const changed = await changing;
    if (this.#changing === changing) this.#changing = undefined;
    return changed;
  }

  /** Resolves when the server has answered; rejects when it would not: a turn must not run with what was chosen against. */
  async inForce(): Promise<void> {
    if ((await this.#changing) === false)
      throw new Error("What you chose before is not in force. Choose again, or send again.");
  }
}
