/** The time of a command, which stands still while somebody is asked about something that the command waits for. */
export class HeldClock {
  #holds = 0;
  #change: (isHeld: boolean) => void = () => undefined;

  /** Stands still until this is disposed. */
  hold(): Disposable {
    this.#holds += 1;
    if (this.#holds === 1) this.#change(true);
    return {
      [Symbol.dispose]: () => {
        this.#holds -= 1;
        if (this.#holds === 0) this.#change(false);
      },
    };
  }

  /** Calls `over` when the time has gone by, unless it is disposed before. @param ms milliseconds, not counting those of holds */
  start(ms: number, over: () => void): Disposable {
    let left = ms;
    let since = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const goOn = (): void => {
      since = performance.now();
      timer = setTimeout(over, left);
    };
    const stop = (): void => {
      if (timer !== undefined) left -= performance.now() - since;
      clearTimeout(timer);
      timer = undefined;
    };
    this.#change = (isHeld) => (isHeld ? stop() : goOn());
    if (this.#holds === 0) goOn();
    return {
      [Symbol.dispose]: () => {
        stop();
        this.#change = () => undefined;
      },
    };
  }
}
