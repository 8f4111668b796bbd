/** How many have a seat, by name. Names without any are forgotten. */
export class ConcurrencyLimit {
  readonly #taken = new Map<string, number>();

  of(name: string): number {
    return this.#taken.get(name) ?? 0;
  }

  /** Disposing gives the seat back, once. */
  take(name: string): Disposable {
    this.#taken.set(name, this.of(name) + 1);
    let held = true;
    return {
      [Symbol.dispose]: () => {
        if (!held) return;
        held = false;
        const left = this.of(name) - 1;
        if (left === 0) this.#taken.delete(name);
        else this.#taken.set(name, left);
      },
    };
  }
}
