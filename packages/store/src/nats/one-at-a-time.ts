/** Work under one name runs in the order it was asked for, one after the other; what fails holds nobody up. */
export class OneAtATime {
  readonly #last = new Map<string, Promise<unknown>>();

  run<Value>(name: string, work: () => Promise<Value>): Promise<Value> {
    const before = this.#last.get(name) ?? Promise.resolve();
    const mine = before.then(work, work);
    const settled = mine
      .catch(() => undefined)
      .then(() => {
        if (this.#last.get(name) === settled) this.#last.delete(name);
      });
    this.#last.set(name, settled);
    return mine;
  }
}
