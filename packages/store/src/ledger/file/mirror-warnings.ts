import { errorMessage } from "@gennai/protocol/error-message";

/** Reports trouble with a workspace's ledger: once per workspace and kind until it is over. */
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

  /** Does the work; a failure is told as `The ledger of ROOT WHAT: …`. Never rejects. */
  async of(root: string, what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.once(root, what, `The ledger of ${root} ${what}: ${errorMessage(error)}`);
    }
  }

  /** The next trouble with this workspace is told again. */
  over(root: string): void {
    for (const key of this.#told) if (key.startsWith(`${root}\0`)) this.#told.delete(key);
  }
}
