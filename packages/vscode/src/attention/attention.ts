/** What the notifications need of the window. */
export interface AttentionPorts {
  /** True when the user sees the question anyway. */
  isSeen(): boolean;
  /** Resolves when the notification is gone. */
  show(message: string): Promise<void>;
  now(): number;
  /** Calls back after milliseconds; gives back how to call it off. */
  after(milliseconds: number, callback: () => void): () => void;
}

/** Questions that arrive together are one notification, and the next one waits. */
const gather = 700;
const pauseBetween = 15_000;

/** Tells the user that the agent waits, when nobody looks: one notification at a time, however many questions come. */
export class Attention implements Disposable {
  readonly #ports: AttentionPorts;
  #open: ReadonlyMap<string, string> = new Map();
  #told: ReadonlySet<string> = new Set();
  #cancel: (() => void) | undefined;
  #isShown = false;
  #lastShown = Number.NEGATIVE_INFINITY;

  constructor(ports: AttentionPorts) {
    this.#ports = ports;
  }

  /** @param open the questions that wait now: id and title */
  update(open: ReadonlyMap<string, string>): void {
    this.#open = open;
    this.#told = new Set([...this.#told].filter((id) => open.has(id)));
    if (this.#untold().length === 0) {
      this.#cancel?.();
      this.#cancel = undefined;
    } else this.#plan();
  }

  [Symbol.dispose](): void {
    this.#cancel?.();
    this.#open = new Map();
  }

  #untold(): readonly string[] {
    return [...this.#open.keys()].filter((id) => !this.#told.has(id));
  }

  #plan(): void {
    if (this.#cancel !== undefined || this.#isShown) return;
    const wait = Math.max(gather, this.#lastShown + pauseBetween - this.#ports.now());
    this.#cancel = this.#ports.after(wait, () => {
      this.#cancel = undefined;
      void this.#tell();
    });
  }

  async #tell(): Promise<void> {
    const untold = this.#untold();
    if (untold.length === 0) return;
    this.#told = new Set([...this.#told, ...untold]);
    if (this.#ports.isSeen()) return;
    const [first] = untold;
    const title = first === undefined ? "" : (this.#open.get(first) ?? "");
    this.#isShown = true;
    this.#lastShown = this.#ports.now();
    try {
      await this.#ports.show(
        untold.length === 1
          ? `Gennai waits for your answer: ${title}`
          : `Gennai waits for ${untold.length} answers of yours.`,
      );
    } finally {
      this.#isShown = false;
      if (this.#untold().length > 0) this.#plan();
    }
  }
}
