import { Code, ConnectError } from "@connectrpc/connect";
import { usersCommand } from "@gennai/client/commands/slash-commands";
import type { AgentClient } from "@gennai/client/connection/connection";
import type { EditorContext } from "@gennai/client/host/editor-context";
import type { AgentSession } from "@gennai/client/session/agent-session";
import type { TurnRequest } from "@gennai/client/session/turn";
import type { SessionView } from "@gennai/client/view/session-view";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { ShownFailure } from "../look/shown-failure.ts";
import { DraftAttachments } from "./draft-attachments.ts";
import { type KeptPrompt, keptPrompt, newPrompt, type Prompt, PromptQueue } from "./prompt-queue.ts";
import type { FollowedSession } from "./session/followed-session.ts";
import { type PromptImage, promptImages } from "./session/prompt-images.ts";
import { isGone, takeFromServer } from "./take-from-server.ts";

/** - `starting`: a prompt is being sent; - `stopping`: the server has not yet confirmed that the work has ended */
export type TurnProgress = "idle" | "starting" | "running" | "stopping";

export interface TurnControlOptions {
  /** The draft and the queue from before a reload. */
  readonly draft: string;
  readonly queue: readonly KeptPrompt[];
  readonly agent: Pick<AgentClient, "withdrawMessage">;
  /** The session that is shown. */
  readonly followed: ReadonlySignal<FollowedSession | undefined>;
  /** Starts the session that a first prompt needs. */
  readonly newSession: (signal: AbortSignal) => Promise<FollowedSession>;
  /** Resolves when a turn may begin; rejects if it must not. */
  readonly ready: () => Promise<void>;
  /** What is sent with every prompt. */
  readonly request: () => Omit<TurnRequest, "text" | "images">;
  readonly failure: Pick<ShownFailure, "failed" | "worked">;
  readonly signal: AbortSignal;
}

/** Milliseconds within which a turn that was started must appear. */
const showWithin = 4000;

const notSent = "The prompt was not sent";
const notGoneOn = "The turn was not gone on with";
const notStopped = "It could not be stopped";
const notWithdrawn = "The message was not withdrawn";

/** What the user sends, when it is sent, and how work is stopped. */
export class TurnControl {
  readonly queue: PromptQueue;
  readonly draft;
  readonly draftImages = signal<readonly PromptImage[]>([]);
  /** What is sent from the editor with the prompt that is being written. */
  readonly draftContext = signal<EditorContext | undefined>(undefined);
  /** The active file that a person left out: it stays out until another one is active. */
  readonly leftOut = signal("");
  readonly attachments = new DraftAttachments();
  /** Counts texts that other components added to the draft: after that, the box should get the focus. */
  readonly draftAdditions = signal(0);
  readonly #options: TurnControlOptions;
  readonly #pending = signal<Prompt | undefined>(undefined);
  /** A prompt that was sent, until the log shows it. */
  readonly pending: ReadonlySignal<Prompt | undefined> = this.#pending;
  /** The pending prompt until the server has it; the user may still be asked something before. */
  readonly #unsent = signal<Prompt | undefined>(undefined);
  readonly #stopping = signal(false);
  readonly #goingOn = signal(false);
  #starting = new AbortController();
  /** When the view shows this event, it shows the turn that was started last. */
  #awaitedSeq: bigint | undefined;
  #running = "";
  /** Never rejects. */
  #telling = Promise.resolve();

  constructor(options: TurnControlOptions) {
    this.#options = options;
    this.queue = new PromptQueue(options.queue);
    this.draft = signal(options.draft);
  }

  readonly progress: ReadonlySignal<TurnProgress> = computed(() => {
    const running = this.#options.followed.value?.view.value.facts.value.turn !== undefined;
    if (this.#stopping.value) return "stopping";
    if (this.#pending.value !== undefined || this.#goingOn.value) return "starting";
    return running ? "running" : "idle";
  });

  /** What must survive a reload; a prompt that the server does not have yet counts as not sent. */
  toKeep(): { readonly draft: string; readonly queue: readonly KeptPrompt[] } {
    const draft = this.attachments.behind(this.draft.value);
    const queue = this.queue.prompts.value.map(keptPrompt);
    const unsent = this.#unsent.value;
    if (unsent === undefined) return { draft, queue };
    if (draft === "" && unsent.sentTo === undefined) return { draft: unsent.text, queue };
    return { draft, queue: [keptPrompt(unsent), ...queue] };
  }

  /** Sends a prompt: to the running turn if possible, else when that has ended. */
  send(text: string, images: readonly PromptImage[] = [], context?: EditorContext, scenario?: string): void {
    const prompt = { ...newPrompt(text, images, context), scenario };
    const { value: progress } = this.progress;
    if (progress !== "idle") {
      this.queue.add(prompt);
      // An editor's context, a scenario and a command of the user's are only sent with a prompt that begins a turn.
      const session = this.#options.followed.value?.session;
      const begins = context !== undefined || scenario !== undefined || usersCommand(text) !== undefined;
      if (progress === "running" && !begins && session !== undefined) {
        this.#tellBehindOthers(prompt, session);
      }
    } else {
      this.queue.release();
      void this.#start(prompt);
    }
  }

  /** The draft with what belongs to it, for a prompt that begins no turn in this session. Empties the draft. */
  takeDraft(text: string): { readonly text: string; readonly images: readonly Uint8Array[] } {
    const taken = {
      text: this.attachments.behind(text),
      images: this.draftImages.value.map(({ bytes }) => bytes),
    };
    this.draftImages.value = [];
    this.draftContext.value = undefined;
    this.attachments.clear();
    return taken;
  }

  /** Sends the draft with what belongs to it. @param scenario for this turn alone; undefined: the chosen one */
  sendDraft(text: string, scenario?: string): void {
    this.send(this.attachments.behind(text), this.draftImages.value, this.draftContext.value, scenario);
    this.draftImages.value = [];
    this.draftContext.value = undefined;
    this.attachments.clear();
  }

  addToDraft(text: string): void {
    this.draft.value = [this.draft.value, text].filter((part) => part !== "").join("\n");
    this.draftAdditions.value++;
  }

  /** @param mentions as they are written, e.g. `@src/a.ts` */
  addMentions(mentions: readonly string[]): void {
    const before = this.draft.value;
    this.draft.value = `${before}${before === "" || /\s$/.test(before) ? "" : " "}${mentions.join(" ")} `;
    this.draftAdditions.value++;
  }

  attach(title: string, text: string): void {
    this.attachments.add(title, text);
    this.draftAdditions.value++;
  }

  /** Takes back a prompt that the model has not got, from the server or from the queue; undefined if it is too late. */
  async takeBack(id: string): Promise<Prompt | undefined> {
    await this.queue.settled(id);
    const waited = this.queue.remove(id);
    const { agent, failure, signal: end } = this.#options;
    try {
      const taken =
        waited === undefined ? await this.#takeShown(id) : await takeFromServer(agent, waited, { signal: end });
      failure.worked(notWithdrawn);
      return taken;
    } catch (error) {
      failure.failed(notWithdrawn, error);
      if (waited !== undefined && !isGone(error)) this.queue.putBack(waited);
      return undefined;
    }
  }

  /** Ends the running turn and sends this prompt next. */
  async stopAndSend(id: string): Promise<void> {
    const prompt = await this.takeBack(id);
    if (prompt === undefined) return;
    if (this.progress.value !== "idle" && !(await this.stop())) return this.queue.putBack(prompt);
    await this.#start(prompt);
  }

  /** Sends what waits, first the messages that an ended turn did not get. */
  async sendQueued(): Promise<void> {
    const { queuedMessages = [], turn } = this.#options.followed.value?.view.value.facts.value ?? {};
    const left = queuedMessages.filter(({ turnId }) => turnId !== turn?.turnId);
    for (const { messageId } of left.toReversed()) {
      const prompt = await this.takeBack(messageId);
      if (prompt !== undefined) this.queue.putBack(prompt);
    }
    this.queue.release();
    this.#sendNext();
  }

  /** Continues a turn that was cut off: its questions are asked again. */
  async goOn(turnId: string): Promise<void> {
    const { followed: shown, ready, failure, signal: end } = this.#options;
    const followed = shown.value;
    if (followed === undefined || this.progress.value !== "idle") return;
    this.#starting = new AbortController();
    const abort = AbortSignal.any([end, this.#starting.signal]);
    this.#goingOn.value = true;
    try {
      await ready();
      await followed.startTurn({ text: "", continues: turnId }, { signal: abort });
      failure.worked(notGoneOn);
    } catch (error) {
      if (!abort.aborted) failure.failed(notGoneOn, error);
    } finally {
      this.#goingOn.value = false;
    }
  }

  /** Ends the running work; true when the server confirms that it has ended. */
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

  /** Another session is shown, or none: prompts that are being sent belong to the earlier one. */
  leave(): void {
    this.#starting.abort();
    this.#pending.value = undefined;
    this.#awaitedSeq = undefined;
    this.#running = "";
  }

  /** The session's view was changed by these events. */
  seen(events: readonly InvokeEvent[], view: SessionView): void {
    for (const { event } of events) {
      // The server has the prompt, even if its answer was lost: it need not be sent again.
      if (event.case === "messageQueued" || event.case === "userMessage") this.queue.remove(event.value.messageId);
    }
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
    const { followed: shown, agent, newSession, ready, request, failure, signal: end } = this.#options;
    let left = prompt;
    this.#starting = new AbortController();
    const abort = AbortSignal.any([end, this.#starting.signal]);
    this.#pending.value = prompt;
    this.#unsent.value = prompt;
    try {
      // Not aborted half-way: nobody would know who has the prompt.
      left = await takeFromServer(agent, prompt, { signal: end });
      if (this.#unsent.value === prompt) this.#unsent.value = left;
      abort.throwIfAborted();
      const followed = shown.value ?? (await newSession(abort));
      await ready();
      const images = prompt.images.map(({ bytes }) => bytes);
      const command = usersCommand(prompt.text);
      const said = command === undefined ? { text: prompt.text } : { text: command, runsCommand: true };
      const turn = await followed.startTurn(
        { ...request(), ...ownRequest(prompt), ...said, images },
        { signal: abort },
      );
      this.#sent(left);
      failure.worked(notSent);
      if (shown.value !== followed) return;
      // The user's message is the second event of a turn.
      const awaited = turn.afterSeq + 2n;
      this.#awaitedSeq = awaited;
      this.#showAwaited(followed.view.value);
      setTimeout(() => {
        // The server has the turn: a stream that does not show it is broken.
        if (this.#awaitedSeq === awaited) followed.reconnect();
      }, showWithin);
    } catch (error) {
      if (this.#pending.value === prompt) this.#pending.value = undefined;
      this.#sent(left);
      if (left.sentTo === undefined || !isGone(error)) this.#giveBack(left);
      if (!abort.aborted) failure.failed(notSent, error);
    }
  }

  /** Withdraws a prompt that only the server has; undefined if the view does not show it. */
  async #takeShown(messageId: string): Promise<Prompt | undefined> {
    const { followed, agent, signal } = this.#options;
    const shown = followed.value;
    const message = shown?.view.value.facts.value.queuedMessages.find((queued) => queued.messageId === messageId);
    if (shown === undefined || message === undefined) return undefined;
    const { sessionId } = shown.session;
    const { text, images } = await agent.withdrawMessage({ sessionId, messageId }, { signal });
    return newPrompt(text, promptImages(images, message.images));
  }

  /** Sends one after the other, so that the server gets them in the order in which they were written. */
  #tellBehindOthers(prompt: Prompt, session: AgentSession): void {
    this.#telling = this.#telling.then(() => this.#tell(prompt, session));
  }

  /** Sends to the running turn; what that does not accept waits for its end. */
  async #tell(prompt: Prompt, session: AgentSession): Promise<void> {
    const { failure, signal: end } = this.#options;
    if (!this.queue.prompts.value.includes(prompt)) return;
    const images = prompt.images.map(({ bytes }) => bytes);
    try {
      await this.queue.handOver(prompt, session.sessionId, () =>
        session.queueMessage({ messageId: prompt.id, text: prompt.text, images }, { signal: end }),
      );
      failure.worked(notSent);
    } catch (error) {
      if (end.aborted) return;
      if (takesNone(error)) this.queue.refused(prompt.id);
      else failure.failed(notSent, error);
      this.#sendNext();
    }
  }

  /** The prompt was sent or given back: it is kept elsewhere now. */
  #sent(prompt: Prompt): void {
    if (this.#unsent.value === prompt) this.#unsent.value = undefined;
  }

  /** Puts back what was not sent, so that it is not lost. */
  #giveBack(prompt: Prompt): void {
    if (prompt.sentTo === undefined && this.draft.value === "" && this.draftImages.value.length === 0) {
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

/** True if the turn has ended, or accepts no messages, or if the server is too old. */
function takesNone(error: unknown): boolean {
  const { code } = ConnectError.from(error);
  return code === Code.FailedPrecondition || code === Code.Unimplemented || code === Code.NotFound;
}

/** What this prompt sends in place of what goes with every prompt. */
function ownRequest({ context, scenario }: Prompt): Pick<TurnRequest, "context" | "scenario"> {
  return { ...(context === undefined ? {} : { context }), ...(scenario === undefined ? {} : { scenario }) };
}
