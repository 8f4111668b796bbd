/** The newest output of a run that may print for days. Places in it are counted in characters from its beginning. */
export class OutputRing {
  readonly #limit: number;
  #text = "";
  #end = 0;
  #more = Promise.withResolvers<void>();

  /** @param limit characters that are kept at least, of those that came */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Where the next character goes. */
  get end(): number {
    return this.#end;
  }

  push(text: string): void {
    if (text === "") return;
    this.#end += text.length;
    const all = this.#text + text;
    // Cut back when there is twice as much, so that little is copied.
    this.#text = all.length > 2 * this.#limit ? all.slice(-this.#limit) : all;
    this.wake();
  }

  /** What came since a place, as far as it is kept, its end if it is too long. */
  since(place: number, most: number): { readonly text: string; readonly leftOut: number; readonly end: number } {
    const wanted = Math.max(0, this.#end - Math.max(0, place));
    const length = Math.min(wanted, most, this.#text.length);
    const text = length === 0 ? "" : this.#text.slice(-length);
    // A character outside of the basic plane is not cut in two.
    const whole = /^[\uDC00-\uDFFF]/.test(text) ? text.slice(1) : text;
    return { text: whole, leftOut: wanted - whole.length, end: this.#end };
  }

  /** Resolves when something came since that place, or somebody woke those who wait. */
  more(place: number): Promise<void> {
    return this.#end > place ? Promise.resolve() : this.#more.promise;
  }

  wake(): void {
    this.#more.resolve();
    this.#more = Promise.withResolvers();
  }
}
