/** Milliseconds that a batch waits if no frame is drawn, as in a hidden window. */
const hiddenDelay = 100;

/**
 * Gathers values and passes them on together, once a frame, so that a replay of thousands of events is drawn once. `flush` passes
 * them on at once.
 */
export class FrameBatch<Value> implements Disposable {
  readonly #take: (values: readonly Value[]) => void;
  #values: Value[] = [];
  #frame: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(take: (values: readonly Value[]) => void) {
    this.#take = take;
  }

  push(value: Value): void {
    this.#values.push(value);
    if (this.#timer !== undefined) return;
    this.#frame = requestAnimationFrame(() => this.flush());
    this.#timer = setTimeout(() => this.flush(), hiddenDelay);
  }

  flush(): void {
    this[Symbol.dispose]();
    const values = this.#values;
    this.#values = [];
    if (values.length > 0) this.#take(values);
  }

  /** After this, nothing is passed on. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    this.#timer = undefined;
    this.#frame = undefined;
  }
}
