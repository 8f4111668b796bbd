import { exitCode } from "./exit-code.ts";

/** Ctrl-C and SIGTERM, and SIGHUP if wanted: the first is passed to what runs now, the second ends the process at once. */
export class Interrupts implements Disposable {
  #listener: ((signal: NodeJS.Signals) => void) | undefined;
  #count = 0;
  #ends = false;
  readonly #onSignal = (signal: NodeJS.Signals) => this.interrupt(signal);
  readonly #exit: (code: number) => void;
  readonly #signals: readonly NodeJS.Signals[];

  /** @param hangUp true to count a closed terminal as well; for a server, SIGHUP means something else */
  constructor(exit: (code: number) => void = (code) => process.exit(code), { hangUp = false } = {}) {
    this.#exit = exit;
    this.#signals = hangUp ? ["SIGINT", "SIGTERM", "SIGHUP"] : ["SIGINT", "SIGTERM"];
    for (const signal of this.#signals) process.on(signal, this.#onSignal);
  }

  /** True from a request to stop until `forget`. */
  get interrupted(): boolean {
    return this.#count > 0;
  }

  /** True once not only what runs now is to stop, but this program, too: it was told to end, or its terminal is gone. */
  get ends(): boolean {
    return this.#ends;
  }

  interrupt(signal: NodeJS.Signals = "SIGINT"): void {
    this.#count++;
    if (signal !== "SIGINT") this.#ends = true;
    if (this.#count > 1 || this.#listener === undefined) this.#exit(exitCode.interrupted);
    else this.#listener(signal);
  }

  /** Passes interrupts to the listener until disposed; without one, an interrupt ends the process. */
  listen(listener: (signal: NodeJS.Signals) => void): Disposable {
    this.#listener = listener;
    return { [Symbol.dispose]: () => (this.#listener = undefined) };
  }

  forget(): void {
    this.#count = 0;
  }

  [Symbol.dispose](): void {
    for (const signal of this.#signals) process.off(signal, this.#onSignal);
  }
}
