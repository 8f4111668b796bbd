import { errorMessage } from "@gennai/protocol/error-message";

/** Reports trouble with ledgers: once per workspace and kind, until the trouble is over. */
export class MirrorWarnings {
  readonly #told = new Set<string>();
  readonly #onWarning: (text: string) => void;

  constructor(onWarning: (text: string) => void) {
    this.#onWarning = onWarning;
  }

  once(root: string, kind: string, text: string): void {
    const key = `${root}\0${kind}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.#onWarning(text);
  }

  /** Runs the work; reports a failure as `The ledger of ROOT WHAT: …`. Never rejects. */
  async of(root: string, what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.once(root, what, `The ledger of ${root} ${what}: ${errorMessage(error)}`);
    }
  }

  /** The next trouble with this workspace is reported again. */
  over(root: string): void {
    for (const key of this.#told) if (key.startsWith(`${root}\0`)) this.#told.delete(key);
  }
}
