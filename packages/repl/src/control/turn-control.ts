import type { EditorContext } from "@gennai/client/session/editor-context";
import type { TurnRequest } from "@gennai/client/session/turn";
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { ShownFailure } from "../failure/shown-failure.ts";
import type { SessionView } from "../model/session-view.ts";
import type { FollowedSession } from "./followed-session.ts";
import type { PromptImage } from "./prompt-images.ts";
import { newPrompt, type Prompt, PromptQueue } from "./prompt-queue.ts";

/** - `starting`: a prompt is on its way; - `stopping`: the server has not confirmed that the work is over */
export type TurnProgress = "idle" | "starting" | "running" | "stopping";

export interface TurnControlOptions {
  /** What was being written, and what waited, before a reload. */
  readonly draft: string;
  readonly queue: readonly string[];
  /** The session that is shown. */
  readonly followed: ReadonlySignal<FollowedSession | undefined>;
  /** Begins the session that a first prompt needs. */
  readonly newSession: (signal: AbortSignal) => Promise<FollowedSession>;
  /** Resolves when a turn may begin; rejects when it may not. */
  readonly ready: (
    followed: FollowedSession,
    prompt: { readonly task: string; readonly signal: AbortSignal },
  ) => Promise<void>;
  /** What goes with every prompt. */
  readonly request: () => Omit<TurnRequest, "text" | "images">;
  readonly failure: Pick<ShownFailure, "failed" | "worked">;
  readonly signal: AbortSignal;
}

/** Milliseconds within which a turn that was started must show. */
const showWithin = 4000;

const notSent = "The prompt was not sent";
const notStopped = "It could not be stopped";

/** What the user says, when it is said, and how it is stopped. */
export class TurnControl {
  readonly queue: PromptQueue;
  readonly draft;
  readonly draftImages = signal<readonly PromptImage[]>([]);
  /** What of the editor goes with the prompt that is being written. */
  readonly draftContext = signal<EditorContext | undefined>(undefined);
  readonly #options: TurnControlOptions;
  readonly #pending = signal<Prompt | undefined>(undefined);
  /** The pending prompt until the server has it: something may still be asked of the user. */
  readonly #unsent = signal<Prompt | undefined>(undefined);
  readonly #stopping = signal(false);
  #starting = new AbortController();
  /** The turn that was asked for last shows once the view is here. */
  #awaitedSeq: bigint | undefined;
  #running = "";

  constructor(options: TurnControlOptions) {
    this.#options = options;
    this.queue = new PromptQueue(options.queue);
    this.draft = signal(options.draft);
  }

  /** A prompt that the log does not show yet. */
  get pending(): ReadonlySignal<Prompt | undefined> {
    return this.#pending;
  }

  readonly progress: ReadonlySignal<TurnProgress> = computed(() => {
    const running = this.#options.followed.value?.view.value.facts.value.turn !== undefined;
    if (this.#stopping.value) return "stopping";
    if (this.#pending.value !== undefined) return "starting";
    return running ? "running" : "idle";
  });

  /** What a reload must find again; a prompt that the server does not have yet is not sent. */
  toKeep(): { readonly draft: string; readonly queue: readonly string[] } {
    const draft = this.draft.value;
    const queue = this.queue.prompts.value.map(({ text }) => text);
    const unsent = this.#unsent.value?.text;
    if (unsent === undefined) return { draft, queue };
    return draft === "" ? { draft: unsent, queue } : { draft, queue: [unsent, ...queue] };
  }

  /** Says it now, or when the running turn has ended. */
  send(text: string, images: readonly PromptImage[] = [], context?: EditorContext): void {
    const prompt = newPrompt(text, images, context);
    if (this.progress.value !== "idle") this.queue.add(prompt);
    else {
      this.queue.release();
      void this.#start(prompt);
    }
  }

  addToDraft(text: string): void {
    this.draft.value = [this.draft.value, text].filter((part) => part !== "").join("\n");
  }

  /** Ends the running turn and says this one next. */
  async steer(id: string): Promise<void> {
    const prompt = this.queue.remove(id);
    if (prompt === undefined) return;
    if (this.progress.value !== "idle" && !(await this.stop())) return this.queue.putBack(prompt);
    await this.#start(prompt);
  }

  /** Goes on with what waits in the queue. */
  sendQueued(): void {
    this.queue.release();
    this.#sendNext();
  }

  /** Ends the running work; true when the server says that it is over. */
  async stop(): Promise<boolean> {
    const { followed, signal: end, failure } = this.#options;
    if (this.#stopping.value) return false;
    this.queue.hold();
    this.#starting.abort();
    const session = followed.value?.session;
    if (session === undefined) return true;
    this.#stopping.value = true;
    try {
      await session.stop("session", "Stopped by the user.", { signal: end });
      failure.worked(notStopped);
      return true;
    } catch (error) {
      failure.failed(notStopped, error);
      return false;
    } finally {
      this.#stopping.value = false;
    }
  }

  /** Another session is shown, or none: what is on its way belongs to the one before. */
  leave(): void {
    this.#starting.abort();
    this.#pending.value = undefined;
    this.#awaitedSeq = undefined;
    this.#running = "";
  }

  /** The view of the session has gone on. */
  seen(view: SessionView): void {
    this.#showAwaited(view);
    const running = view.facts.value.turn?.turnId ?? "";
    const ended = this.#running !== "" && running === "";
    this.#running = running;
    if (!ended) return;
    const last = view.cells.findLast(({ item }) => item.value.kind === "turn-end")?.item.value;
    if (last?.kind === "turn-end" && last.outcome === "completed") this.#sendNext();
    else this.queue.hold();
  }

  async #start(prompt: Prompt): Promise<void> {
    const { followed: shown, newSession, ready, request, failure, signal: end } = this.#options;
    this.#starting = new AbortController();
    const abort = AbortSignal.any([end, this.#starting.signal]);
    this.#pending.value = prompt;
    this.#unsent.value = prompt;
    try {
      const followed = shown.value ?? (await newSession(abort));
      await ready(followed, { task: prompt.text, signal: abort });
      const images = prompt.images.map(({ bytes }) => bytes);
      const turn = await followed.startTurn(
        { ...request(), ...contextOf(prompt), text: prompt.text, images },
        { signal: abort },
      );
      this.#sent(prompt);
      failure.worked(notSent);
      if (shown.value !== followed) return;
      // The user's message is the second event of a turn.
      const awaited = turn.afterSeq + 2n;
      this.#awaitedSeq = awaited;
      this.#showAwaited(followed.view.value);
      setTimeout(() => {
        // The server has the turn: a stream that does not show it has lost its way.
        if (this.#awaitedSeq === awaited) followed.reconnect();
      }, showWithin);
    } catch (error) {
      if (this.#pending.value === prompt) this.#pending.value = undefined;
      this.#sent(prompt);
      this.#giveBack(prompt);
      if (!abort.aborted) failure.failed(notSent, error);
    }
  }

  /** Or given back: it is kept elsewhere now. */
  #sent(prompt: Prompt): void {
    if (this.#unsent.value === prompt) this.#unsent.value = undefined;
  }

  /** What was not sent is not lost. */
  #giveBack(prompt: Prompt): void {
    if (this.draft.value === "" && this.draftImages.value.length === 0) {
      this.draft.value = prompt.text;
      this.draftImages.value = prompt.images;
      this.draftContext.value = prompt.context;
    } else this.queue.putBack(prompt);
  }

  #showAwaited(view: SessionView): void {
    if (this.#awaitedSeq === undefined || view.lastSeq < this.#awaitedSeq) return;
    this.#awaitedSeq = undefined;
    this.#pending.value = undefined;
  }

  #sendNext(): void {
    if (this.queue.held.value || this.progress.value !== "idle") return;
    const next = this.queue.take();
    if (next !== undefined) void this.#start(next);
  }
}

function contextOf({ context }: Prompt): Pick<TurnRequest, "context"> {
  return context === undefined ? {} : { context };
}
