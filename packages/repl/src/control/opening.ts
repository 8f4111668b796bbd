import { callFailure } from "@gennai/client/connection/call-failure";
import { type ReadonlySignal, signal } from "@preact/signals";
import { type Failure, failureOf } from "../look/failure.ts";

/** How the app's start goes. */
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
  /** Shows a session, unless the user has meanwhile begun something else. */
  readonly show: (sessionId: string, signal: AbortSignal) => Promise<void>;
  /** Called if a session that was asked for cannot be opened. */
  readonly refused: (error: unknown) => void;
}

/** Milliseconds between two tries to reach the server. */
const pause = 3000;

/** Shows the first session; tries until the server answers. */
export class Opening {
  readonly #steps: OpeningSteps;
  readonly #state = signal<OpeningState>({ state: "opening" });
  readonly state: ReadonlySignal<OpeningState> = this.#state;
  readonly #tried = Promise.withResolvers<void>();

  constructor(steps: OpeningSteps) {
    this.#steps = steps;
  }

  /** Resolves when the server was asked once, whatever it answered. */
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
      // Only a session that was asked for causes a message: otherwise it was just the newest.
      if (named !== undefined) refused(error);
    }
  }
}
