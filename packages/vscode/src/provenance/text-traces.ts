import type { LineTrace } from "@gennai/protocol/model/governance/line-trace";

/** A text that is shown, at one moment. `T` is what shows it, e.g. a document: each version is asked about once. */
export interface ShownText<T extends object> {
  readonly of: T;
  readonly version: number;
  readonly path: string;
  readonly text: string;
}

/** Asks who wrote a text; undefined if nobody can be asked, or the text is too long. */
export type AskTrace = (text: { readonly path: string; readonly text: string }) => Promise<LineTrace | undefined>;

interface Known {
  readonly version: number;
  readonly generation: number;
  readonly trace: Promise<LineTrace | undefined>;
}

/** Answers about shown texts. Each version of a text is asked about once, and again after `forget`. */
export class TextTraces<T extends object> {
  readonly #ask: AskTrace;
  #known = new WeakMap<T, Known>();
  #generation = 0;

  constructor(ask: AskTrace) {
    this.#ask = ask;
  }

  /** Something was recorded, or another server is used from now on. */
  forget(): void {
    this.#generation += 1;
    this.#known = new WeakMap();
  }

  /** Rejects as `ask` does; then the next call asks again. */
  async of({ of, version, path, text }: ShownText<T>): Promise<LineTrace | undefined> {
    const known = this.#known.get(of);
    if (known?.version === version && known.generation === this.#generation) return known.trace;
    const asked: Known = { version, generation: this.#generation, trace: this.#ask({ path, text }) };
    this.#known.set(of, asked);
    try {
      const trace = await asked.trace;
      // Nobody could be asked; later calls may find somebody.
      if (trace === undefined) this.#drop(of, asked);
      return trace;
    } catch (error) {
      this.#drop(of, asked);
      throw error;
    }
  }

  #drop(of: T, asked: Known): void {
    if (this.#known.get(of) === asked) this.#known.delete(of);
  }
}
