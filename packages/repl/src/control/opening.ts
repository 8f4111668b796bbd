import { callFailure } from "@gennai/client/connection/call-failure";
import { type ReadonlySignal, signal } from "@preact/signals";
import { type Failure, failureOf } from "../failure/failure.ts";

/** How the app began. */
export type OpeningState =
  | { readonly state: "opening" }
  /** The connection is retried automatically. */
  | { readonly state: "retrying"; readonly failure: Failure }
  | { readonly state: "done" };

export interface OpeningSteps {
  /** Resolves when the server answers. */
  readonly reach: (signal: AbortSignal) => Promise<void>;
  /** The newest session of the workspace. */
  readonly newest: (signal: AbortSignal) => Promise<string | undefined>;
  /** Shows a session, unless the user has begun something else meanwhile. */
  readonly show: (sessionId: string, signal: AbortSignal) => Promise<void>;
  /** Called when a session that was asked for cannot be had. */
  readonly refused: (error: unknown) => void;
}

/** Milliseconds between tries to reach the server. */
const pause = 3000;

/** Shows the session to begin with, and tries until the server answers. */
export class Opening {
  readonly #steps: OpeningSteps;
  readonly #state = signal<OpeningState>({ state: "opening" });
  readonly #tried = Promise.withResolvers<void>();

  constructor(steps: OpeningSteps) {
    this.#steps = steps;
  }

  get state(): ReadonlySignal<OpeningState> {
    return this.#state;
  }

  /** Resolves when the server was asked once, however that ended. */
  get tried(): Promise<void> {
    return this.#tried.promise;
  }

  /**
   * Never rejects.
   * @param named undefined: the newest session; null: none, the user wants a new one
   */
  async begin(named: string | null | undefined, end: AbortSignal): Promise<void> {
    while (!end.aborted) {
      try {
        await this.#try(named, end);
        this.#state.value = { state: "done" };
        this.#tried.resolve();
        return;
      } catch (error) {
        if (end.aborted) return;
        this.#state.value = { state: "retrying", failure: failureOf(error) };
        this.#tried.resolve();
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }

  async #try(named: string | null | undefined, end: AbortSignal): Promise<void> {
    const { reach, newest, show, refused } = this.#steps;
    if (named === null) return reach(end);
    const sessionId = named ?? (await newest(end));
    if (sessionId === undefined) return undefined;
    try {
      await show(sessionId, end);
    } catch (error) {
      if (callFailure(error) !== "final") throw error;
      // Shown to nobody who did not ask for it: without a name it was only the newest.
      if (named !== undefined) refused(error);
    }
  }
}
