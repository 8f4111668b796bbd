/** Extra time for work after it is stopped: git may hang, and a stop must not wait for ever. */
export class TimeoutAfter implements Disposable {
  /** Aborts when the time is over. */
  readonly signal: AbortSignal;
  /** Rejects when the time is over. */
  readonly over: Promise<never>;
  readonly #stop: AbortSignal;
  readonly #onStop: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** @param milliseconds counted from when `stop` aborts */
  constructor(stop: AbortSignal, milliseconds: number) {
    const { promise, reject } = Promise.withResolvers<never>();
    const abort = new AbortController();
    promise.catch(() => undefined);
    this.signal = abort.signal;
    this.over = promise;
    this.#stop = stop;
    this.#onStop = () => {
      this.#timer = setTimeout(() => {
        const reason = new Error(`it took longer than ${milliseconds / 1000} s after the stop`);
        abort.abort(reason);
        reject(reason);
      }, milliseconds);
    };
    if (stop.aborted) this.#onStop();
    else stop.addEventListener("abort", this.#onStop, { once: true });
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#stop.removeEventListener("abort", this.#onStop);
  }
}
