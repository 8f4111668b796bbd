import type { EditorContext } from "@gennai/client/session/editor-context";
import { type ReadonlySignal, signal } from "@preact/signals";
import type { PromptImage } from "./prompt-images.ts";

/** What the user wants to say. */
export interface Prompt {
  readonly id: string;
  readonly text: string;
  readonly images: readonly PromptImage[];
  /** What goes along of the editor. */
  readonly context?: EditorContext | undefined;
}

export function newPrompt(text: string, images: readonly PromptImage[] = [], context?: EditorContext): Prompt {
  return { id: crypto.randomUUID(), text, images, context };
}

/** Prompts that wait for the running turn to end. */
export class PromptQueue {
  readonly #prompts;
  /** Held back until a person says go: a turn that was stopped or failed is followed by nothing on its own. */
  readonly #held;

  /** @param kept prompts of an earlier run of the app; they are held */
  constructor(kept: readonly string[]) {
    this.#prompts = signal<readonly Prompt[]>(kept.map((text) => newPrompt(text)));
    this.#held = signal(kept.length > 0);
  }

  get prompts(): ReadonlySignal<readonly Prompt[]> {
    return this.#prompts;
  }

  get held(): ReadonlySignal<boolean> {
    return this.#held;
  }

  add(prompt: Prompt): void {
    this.#prompts.value = [...this.#prompts.value, prompt];
  }

  /** Puts it before all others. */
  putBack(prompt: Prompt): void {
    this.#prompts.value = [prompt, ...this.#prompts.value];
    this.#held.value = true;
  }

  /** The prompt that was taken out; undefined when it is no longer there. */
  remove(id: string): Prompt | undefined {
    const found = this.#prompts.value.find((prompt) => prompt.id === id);
    this.#prompts.value = this.#prompts.value.filter((prompt) => prompt !== found);
    if (this.#prompts.value.length === 0) this.#held.value = false;
    return found;
  }

  /** The one that is next. */
  take(): Prompt | undefined {
    const first = this.#prompts.value[0];
    return first === undefined ? undefined : this.remove(first.id);
  }

  hold(): void {
    this.#held.value = this.#prompts.value.length > 0;
  }

  release(): void {
    this.#held.value = false;
  }
}
