import { signal } from "@preact/signals";
import { type Failure, failureOf } from "./failure.ts";

/** The newest failure, until the user closes it, or until what failed has succeeded. */
export class ShownFailure {
  readonly #shown = signal<Failure | undefined>(undefined);
  #what = "";

  /** undefined: there is no failure. */
  get value(): Failure | undefined {
    return this.#shown.value;
  }

  /** @param what in words for people, e.g. `The prompt was not sent` */
  failed(what: string, error: unknown): void {
    const failure = failureOf(error);
    this.show({ ...failure, message: `${what}: ${failure.message}` });
    this.#what = what;
  }

  /** Something succeeded: its failure is no longer shown. */
  worked(what: string): void {
    if (what === this.#what) this.putAway();
  }

  show(failure: Failure): void {
    this.#what = "";
    this.#shown.value = failure;
  }

  putAway(): void {
    this.#what = "";
    this.#shown.value = undefined;
  }
}
