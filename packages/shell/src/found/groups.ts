/** Groups of names; the names of a group stay together. */
export class Groups {
  readonly #parents = new Map<string, string>();

  add(name: string): void {
    if (!this.#parents.has(name)) this.#parents.set(name, name);
  }

  has(name: string): boolean {
    return this.#parents.has(name);
  }

  /** Puts two names into one group. Does nothing if one of them was not added. */
  join(one: string, other: string): void {
    if (this.has(one) && this.has(other)) this.#parents.set(this.of(one), this.of(other));
  }

  /** The name that represents the whole group. */
  of(name: string): string {
    let at = name;
    for (let parent = this.#parents.get(at); parent !== undefined && parent !== at; parent = this.#parents.get(at)) {
      // Path halving: shortens the way for the next look-up.
      this.#parents.set(at, this.#parents.get(parent) ?? parent);
      at = parent;
    }
    return at;
  }

  get size(): number {
    return new Set([...this.#parents.keys()].map((name) => this.of(name))).size;
  }
}
