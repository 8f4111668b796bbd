import { signal } from "@preact/signals";
import type { AttemptsStore } from "./session/attempts-store.ts";
import type { TurnControl } from "./turn-control.ts";

export interface AttemptControlOptions {
  readonly turns: () => Pick<TurnControl, "draft" | "sendDraft" | "takeDraft">;
  /** Resolves with the store of the session, as soon as there is one; undefined if none could be started. */
  readonly store: () => Promise<AttemptsStore | undefined>;
  /** What is sent with every prompt. */
  readonly request: () => { readonly scenario: string; readonly enableThinking: boolean };
  /** Shows the attempts. */
  readonly show: () => void;
}

/** Prompts that are tried several times. */
export class AttemptControl {
  /** How many times the next prompt is tried; 1: it is sent as usual. */
  readonly count = signal(1);
  readonly #options: AttemptControlOptions;

  constructor(options: AttemptControlOptions) {
    this.#options = options;
  }

  /** Sends the draft, once or as often as was chosen. */
  sendDraft(text: string): void {
    if (this.count.value === 1) this.#options.turns().sendDraft(text);
    else void this.tryPrompt(text, this.count.value);
  }

  /** Tries a prompt several times, with everything that the draft has. Never rejects: problems are shown. */
  async tryPrompt(text: string, count: number): Promise<void> {
    const { turns, store, request, show } = this.#options;
    const wish = turns().takeDraft(text);
    this.count.value = 1;
    const attempts = await store();
    show();
    const isStarted = await attempts?.start({ ...wish, ...request(), id: crypto.randomUUID(), count });
    // A prompt that was not sent is not lost.
    if (isStarted !== true && turns().draft.value === "") turns().draft.value = text;
  }
}
