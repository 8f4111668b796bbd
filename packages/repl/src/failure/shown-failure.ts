import { signal } from "@preact/signals";
import { type Failure, failureOf } from "./failure.ts";

/** The newest thing that went wrong: until somebody puts it away, or until what failed has worked. */
export class ShownFailure {
  readonly #shown = signal<Failure | undefined>(undefined);
  #what = "";

  /** undefined: nothing stands in the way. */
  get value(): Failure | undefined {
    return this.#shown.value;
  }

  /** @param what in words for people, e.g. `The prompt was not sent` */
  failed(what: string, error: unknown): void {
    const failure = failureOf(error);
    this.show({ ...failure, message: `${what}: ${failure.message}` });
    this.#what = what;
  }

  /** What is said of a failure holds no longer. */
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
