/** What happened to one recorded thing when it was played again. */
export type Outcome =
  /** As it was recorded. */
  | "accepted"
  /** In the tool's own form, into which the gate converted it. */
  | "normalised"
  | "asked"
  | "refused"
  /** The call, or its result, is not what it was. */
  | "failed";

/** A line of the table: how many of one kind came to what, and why the others did not. */
export class Score {
  readonly name: string;
  /** Undefined where nothing is compared. */
  readonly isCompared: boolean;
  readonly #outcomes = new Map<Outcome, number>();
  readonly #classes = new Map<string, { count: number; example: string }>();
  #identical = 0;

  constructor(name: string, { isCompared = false }: { readonly isCompared?: boolean } = {}) {
    this.name = name;
    this.isCompared = isCompared;
  }

  /** @param why the class of what was not accepted, and an example of it */
  add(
    outcome: Outcome,
    options: { readonly identical?: boolean; readonly why?: string; readonly example?: string } = {},
  ): void {
    this.#outcomes.set(outcome, this.of(outcome) + 1);
    if (options.identical === true) this.#identical += 1;
    if (options.why !== undefined) this.#note(options.why, options.example ?? "");
  }

  /** What cannot be played, and counts for nothing. */
  leaveOut(why: string, example: string): void {
    this.#note(`left out: ${why}`, example);
  }

  #note(why: string, example: string): void {
    const known = this.#classes.get(why);
    if (known === undefined) this.#classes.set(why, { count: 1, example });
    else known.count += 1;
  }

  of(outcome: Outcome): number {
    return this.#outcomes.get(outcome) ?? 0;
  }

  get total(): number {
    return [...this.#outcomes.values()].reduce((sum, count) => sum + count, 0);
  }

  get identical(): number {
    return this.#identical;
  }

  /** Part of all that fits the tools, as it is or after normalising; rules may ask about it or refuse it. */
  get fitting(): number {
    return this.total === 0 ? 1 : 1 - this.of("failed") / this.total;
  }

  /** Why something was not accepted as it is, the most frequent first. */
  get classes(): readonly { readonly why: string; readonly count: number; readonly example: string }[] {
    return [...this.#classes].map(([why, found]) => ({ why, ...found })).sort((one, other) => other.count - one.count);
  }
}
