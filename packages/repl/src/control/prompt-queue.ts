import type { EditorContext } from "@gennai/client/host/editor-context";
import { type ReadonlySignal, signal } from "@preact/signals";
import type { PromptImage } from "./session/prompt-images.ts";

/** A message that the user wants to send. */
export interface Prompt {
  readonly id: string;
  readonly text: string;
  readonly images: readonly PromptImage[];
  /** What is sent along from the editor. */
  readonly context?: EditorContext | undefined;
  /** Used in place of the chosen one. */
  readonly scenario?: string | undefined;
  /** The session whose running turn got this prompt, or may have got it: only its server knows. */
  readonly sentTo?: string | undefined;
}

/** The part of a prompt that survives a reload. */
export type KeptPrompt = Pick<Prompt, "id" | "text" | "sentTo" | "scenario">;

export function keptPrompt({ id, text, sentTo, scenario }: Prompt): KeptPrompt {
  return { id, text, sentTo, scenario };
}

export function newPrompt(text: string, images: readonly PromptImage[] = [], context?: EditorContext): Prompt {
  return { id: crypto.randomUUID(), text, images, context };
}

/** Prompts that wait for the running turn to end. */
export class PromptQueue {
  readonly #prompts;
  /** True if they wait until a person says go: after a turn that was stopped or failed, nothing is sent automatically. */
  readonly #held;
  /** Prompts that are being sent to the running turn. */
  readonly #leaving = new Map<string, Promise<void>>();

  /** @param kept prompts of an earlier run of the app; they are held */
  constructor(kept: readonly KeptPrompt[]) {
    this.#prompts = signal<readonly Prompt[]>(kept.map((prompt) => ({ ...prompt, images: [] })));
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

  /** Puts a prompt before all others. */
  putBack(prompt: Prompt): void {
    this.#prompts.value = [prompt, ...this.#prompts.value];
    this.#held.value = true;
  }

  /** The prompt that was removed; undefined if it is no longer in the queue. */
  remove(id: string): Prompt | undefined {
    const found = this.#prompts.value.find((prompt) => prompt.id === id);
    if (found === undefined) return undefined;
    this.#prompts.value = this.#prompts.value.filter((prompt) => prompt !== found);
    if (this.#prompts.value.length === 0) this.#held.value = false;
    return found;
  }

  /** Removes the next one; undefined if the queue is empty, or while that one is being sent to the running turn. */
  take(): Prompt | undefined {
    const first = this.#prompts.value[0];
    return first === undefined || this.#leaving.has(first.id) ? undefined : this.remove(first.id);
  }

  /** Gives a prompt to a session: it leaves the queue if that succeeds, and stays if it fails. Rejects as `give` does. */
  async handOver(prompt: Prompt, sessionId: string, give: () => Promise<void>): Promise<void> {
    this.#setSentTo(prompt.id, sessionId);
    const leaving = give();
    const settled = leaving.then(
      () => undefined,
      () => undefined,
    );
    this.#leaving.set(prompt.id, settled);
    try {
      await leaving;
      this.remove(prompt.id);
    } finally {
      this.#leaving.delete(prompt.id);
    }
  }

  /** The session does not have that prompt, and will not get it. */
  refused(id: string): void {
    this.#setSentTo(id, undefined);
  }

  /** Resolves when that prompt is no longer being sent. */
  async settled(id: string): Promise<void> {
    await this.#leaving.get(id);
  }

  hold(): void {
    this.#held.value = this.#prompts.value.length > 0;
  }

  release(): void {
    this.#held.value = false;
  }

  #setSentTo(id: string, sentTo: string | undefined): void {
    this.#prompts.value = this.#prompts.value.map((prompt) => (prompt.id === id ? { ...prompt, sentTo } : prompt));
  }
}
