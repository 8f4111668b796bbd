import { exitCode } from "../errors/exit-code.ts";

/** Ctrl-C and SIGTERM: the first is told to whoever works right now, the second ends the process at once. */
export class Interrupts implements Disposable {
  #listener: ((signal: NodeJS.Signals) => void) | undefined;
  #count = 0;
  readonly #onSignal = (signal: NodeJS.Signals) => this.interrupt(signal);
  readonly #exit: (code: number) => void;

  constructor(exit: (code: number) => void = (code) => process.exit(code)) {
    this.#exit = exit;
    process.on("SIGINT", this.#onSignal);
    process.on("SIGTERM", this.#onSignal);
  }

  /** True once somebody asked to stop, until `forget`. */
  get interrupted(): boolean {
    return this.#count > 0;
  }

  interrupt(signal: NodeJS.Signals = "SIGINT"): void {
    this.#count++;
    if (this.#count > 1 || this.#listener === undefined) this.#exit(exitCode.interrupted);
    else this.#listener(signal);
  }

  /** Who is told; until then, an interrupt ends the process. */
  listen(listener: (signal: NodeJS.Signals) => void): Disposable {
    this.#listener = listener;
    return { [Symbol.dispose]: () => (this.#listener = undefined) };
  }

  forget(): void {
    this.#count = 0;
  }

  [Symbol.dispose](): void {
    process.off("SIGINT", this.#onSignal);
    process.off("SIGTERM", this.#onSignal);
  }
}
