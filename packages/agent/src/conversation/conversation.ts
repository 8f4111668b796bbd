import { parsedJson } from "@gennai/protocol/json-value";
import * as z from "zod";
import { type Compacted, endStates, type LoggedEvent, type SessionEvent } from "../events/session-event.ts";
import type { Message, MessageCall, ModelRequest } from "../model.ts";
import { type Instructions, type InstructionsTold, ToldInstructions } from "../prompt/instructions.ts";
import { compactedText } from "./compacted-text.ts";
import { KeptFacts } from "./kept-facts.ts";
import { estimateMessages } from "./token-estimate.ts";
import { UnfilledMessages } from "./unfilled-messages.ts";
import { userActionNote } from "./user-action-note.ts";

type Note = Extract<Message, { readonly role: "note" }>;
type Assistant = Extract<Message, { readonly role: "assistant" }>;
type Draft = { -readonly [Key in keyof Assistant]: Assistant[Key] } & { toolCalls: Assistant["toolCalls"][number][] };

/** A call whose turn was cut off before its result. */
export interface OpenCall {
  readonly id: string;
  readonly name: string;
  readonly argumentsJson: string;
  /** The call may have taken effect. */
  readonly begun: boolean;
}

/**
 * Outputs of at least this many characters are dropped when room is needed. Less than the part of a blob that stays in
 * the log.
 */
const largeOutput = 2_000;

const leftOut = "[This output was left out to save room. Call the tool again if you need it.]";

/**
 * What the model has been told so far: a fold over the session's log. Messages are only appended, so that providers can
 * cache them, until a compaction replaces the first ones.
 */
export class Conversation {
  #messages: Message[] = [];
  #answer: Draft | undefined;
  /** How many messages the current answer responds to. */
  #asked = 0;
  /** An answer is streaming in, or expected. */
  #isAnswering = false;
  /** Calls that have no result yet, in order. */
  #unanswered = new Map<string, string>();
  /** Those of them that started to run. */
  readonly #begun = new Set<string>();
  /** Notes about these calls that arrived before their results. */
  readonly #heldNotes = new Map<string, readonly string[]>();
  /** Notes that must come after the pending answer or results: providers refuse a message between a call and its result. */
  #held: Note[] = [];
  readonly #unfilled = new UnfilledMessages();
  readonly #facts = new KeptFacts();
  readonly #callIds = new Set<string>();
  readonly #wantedTools = new Set<string>();
  /** The provider's last token count, and how many messages it covered. */
  #measured: { readonly tokens: number; readonly messages: number } | undefined;
  readonly #told = new ToldInstructions();
  /** How this process last asked for an answer, besides the messages. Nothing of it comes from the log. */
  asked: Omit<ModelRequest, "system" | "messages" | "maxOutputTokens"> | undefined;

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** The system prompt of every request; it changes only at a compaction. Empty before the first request. */
  get system(): string {
    return this.#told.system;
  }

  /** Instructions to log and tell the model before its next answer; undefined if nothing changed. */
  changedInstructions(now: Instructions): InstructionsTold | undefined {
    return this.#told.change(now);
  }

  /** A part of the instructions as last told; undefined where it was never told of. */
  partTold(name: string): string | undefined {
    return this.#told.partTold(name);
  }

  /** Names of tools that the model asked to be told of, in the order of its calls. They stay, also after a compaction. */
  get wantedTools(): ReadonlySet<string> {
    return this.#wantedTools;
  }

  /** True if any call of the session had this id. */
  hasCall(id: string): boolean {
    return this.#callIds.has(id);
  }

  /** Calls that have no result yet, in order, as logged: secrets in them are masked. */
  get openCalls(): readonly OpenCall[] {
    const calls = this.#messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls : []));
    return calls.flatMap(({ id, name, argumentsJson }) =>
      this.#unanswered.has(id) ? [{ id, name, argumentsJson, begun: this.#begun.has(id) }] : [],
    );
  }

  /**
   * Tokens of the next request: the provider's last count plus an estimate of what was added since, or an estimate of
   * all.
   * @param overhead estimated tokens of the system prompt and the tools
   */
  tokens(overhead: number): number {
    const { tokens, messages } = this.#measured ?? { tokens: overhead, messages: 0 };
    return tokens + estimateMessages(this.#messages.slice(messages));
  }

  /** The message that replaces the first messages in a compaction. */
  compactedMessage({ summary, dropped, room }: Pick<Compacted, "summary" | "dropped" | "room">): Message {
    const shown = this.#messages.slice(dropped).flatMap((message) => (message.role === "user" ? [message.text] : []));
    return { role: "note", text: compactedText(summary, this.#facts.text(new Set(shown), room)) };
  }

  /**
   * Large outputs and images among the first messages that `stage: "outputs"` would drop: message index, and the
   * message after that.
   */
  largeOutputs(dropped: number): ReadonlyMap<number, Message> {
    const found = new Map<number, Message>();
    // The result does not depend on whether they were fetched yet.
    for (const [index, message] of this.#messages.slice(0, dropped).entries()) {
      if (message.role !== "tool") continue;
      const { images, ...text } = message;
      if (text.output.length > largeOutput || images !== undefined || this.#unfilled.hasImages(index))
        found.set(index, { ...text, output: leftOut });
    }
    return found;
  }

  /**
   * Fetches large outputs and images that the log keeps as blobs. Call it before the messages go to a model.
   * @param read content by digest; undefined if it was purged
   */
  async fill(read: (sha256: string) => Promise<Uint8Array | undefined>): Promise<void> {
    await this.#unfilled.fill(() => this.#messages, read);
  }

  apply(logged: LoggedEvent): void {
    const { event } = logged;
    this.#facts.apply(logged);
    if (event.type === "tool-call") this.#callIds.add(event.id);
    if (event.parentToolCallId !== undefined) return;
    switch (event.type) {
      case "user-message":
        this.#endAnswer({ closeCalls: true });
        this.#push({ role: "user", text: event.isCommand === true ? ranByUser(event.text) : event.text });
        if (event.images.length > 0) this.#unfilled.add(this.#messages.length - 1, { images: digests(event.images) });
        break;
      case "status":
        this.#follow(event);
        break;
      case "final":
        this.#endAnswer();
        break;
      case "answer-dropped":
        this.#dropAnswer();
        break;
      case "model-note":
        this.#tell({ role: "note", text: event.text, aside: true });
        break;
      case "text-delta":
        this.#currentAnswer().text += event.text;
        break;
      case "tool-call":
        this.#currentAnswer().toolCalls.push(callOf(event));
        this.#unanswered.set(event.id, event.name);
        for (const name of wantedBy(event)) this.#wantedTools.add(name);
        break;
      case "tool-result":
        // Providers refuse a second result for a call, and a result without a call.
        if (!this.#unanswered.delete(event.id)) break;
        this.#push({
          role: "tool",
          id: event.id,
          name: event.name,
          output: event.output,
          isError: event.error !== undefined,
        });
        if (event.outputBlob !== undefined || event.images !== undefined) {
          const images = event.images && digests(event.images);
          this.#unfilled.add(this.#messages.length - 1, { output: event.outputBlob?.sha256, images });
        }
        this.#noteHeld(event.id);
        this.#release();
        break;
      case "context-added":
        this.#addContext(event.text, digests(event.images ?? []));
        break;
      case "call-note":
        this.#note(event.toolCallId, event.text);
        break;
      case "usage":
        if (event.purpose === undefined && event.estimated !== true) {
          this.#measured = { tokens: event.inputTokens + event.outputTokens, messages: this.#messages.length };
        }
        break;
      case "compacted":
        this.#compact(event);
        this.#told.forget();
        break;
      case "instructions": {
        const text = this.#told.apply(event);
        if (text !== "") this.#tell({ role: "note", text, aside: true });
        break;
      }
      case "todos-changed":
        // The agent's own changes to the todos are in the result of its call.
        if (logged.turnId === "") this.#told.doubts("todos");
        else this.#told.knows("todos");
        break;
      case "intent-selected":
        this.#told.knows("intents");
        break;
      case "proposal-review":
      case "change-set-undone":
      case "checkpoint-restored":
        this.#held.push({ role: "note", text: userActionNote(event) });
        this.#release();
        break;
      case "session-cleared":
        this.#messages = [];
        this.#answer = undefined;
        this.#unanswered = new Map();
        this.#heldNotes.clear();
        this.#held = [];
        this.#unfilled.drop(() => true);
        this.#measured = undefined;
        this.#told.forget();
        break;
      default:
        break;
    }
  }

  #follow({ state, toolCallId }: Extract<SessionEvent, { readonly type: "status" }>): void {
    if (state === "thinking") {
      // A new model call begins a new answer.
      this.#endAnswer({ closeCalls: true });
      this.#asked = this.#messages.length;
      this.#isAnswering = true;
    } else if (state === "waiting-tool-result" || state === "run-tool") {
      this.#isAnswering = false;
      // Imported sessions from older versions do not say which call.
      const began = toolCallId === undefined ? this.#unanswered.keys() : [toolCallId];
      if (state === "run-tool") for (const id of began) this.#begun.add(id);
    } else if (endStates.has(state)) {
      // The server died before it could log that the answer broke off.
      if (state === "interrupted" && this.#isAnswering) this.#dropAnswer();
      this.#endAnswer();
    }
  }

  /** @param closeCalls when no further results can come */
  #endAnswer({ closeCalls = false } = {}): void {
    this.#answer = undefined;
    this.#isAnswering = false;
    if (closeCalls) this.#closeOpenCalls();
    this.#release();
  }

  /** A message from the server before it asks again: the previous answer is over. */
  #tell(note: Note): void {
    if (this.#unanswered.size > 0) this.#held.push(note);
    else this.#push(note);
    this.#endAnswer();
  }

  #release(): void {
    if (this.#isAnswering || this.#unanswered.size > 0) return;
    for (const note of this.#held.splice(0)) this.#push(note);
  }

  /** Drops the answer, its calls (none of them ran) and the notes about it. */
  #dropAnswer(): void {
    const dropped = this.#messages.slice(this.#asked).filter(({ role }) => role === "assistant" || role === "tool");
    for (const message of dropped) {
      if (message.role === "assistant") for (const { id } of message.toolCalls) this.#unanswered.delete(id);
    }
    this.#messages = this.#messages.filter((message) => !dropped.includes(message));
    this.#answer = undefined;
    if (this.#measured !== undefined && this.#measured.messages > this.#asked) this.#measured = undefined;
  }

  #compact(event: Compacted): void {
    const { stage, dropped, tokensAfter } = event;
    if (stage === "outputs") {
      const outputs = this.largeOutputs(dropped);
      for (const [index, message] of outputs) this.#messages[index] = message;
      this.#unfilled.drop((index) => outputs.has(index));
    } else {
      const first = this.compactedMessage(event);
      const gone = this.#messages.slice(0, dropped);
      // A result must not follow a call that was removed from the conversation.
      for (const message of gone) {
        if (message.role === "assistant") for (const { id } of message.toolCalls) this.#unanswered.delete(id);
      }
      if (this.#answer !== undefined && gone.includes(this.#answer)) this.#answer = undefined;
      this.#messages = [first, ...this.#messages.slice(dropped)];
      this.#asked = Math.max(1, this.#asked - dropped + 1);
      this.#unfilled.drop((index) => index < dropped, dropped - 1);
    }
    this.#measured = { tokens: tokensAfter, messages: this.#messages.length };
  }

  /** Adds a note after the call's result, also if the result is not there yet. */
  #note(toolCallId: string, text: string): void {
    if (this.#unanswered.has(toolCallId)) {
      this.#heldNotes.set(toolCallId, [...(this.#heldNotes.get(toolCallId) ?? []), text]);
      return;
    }
    const index = this.#messages.findLastIndex((message) => message.role === "tool" && message.id === toolCallId);
    const message = this.#messages[index];
    if (message?.role !== "tool") return;
    const note = `\n\n[${text}]`;
    if (!this.#unfilled.addNote(index, note)) this.#messages[index] = { ...message, output: message.output + note };
  }

  /** Adds the notes about a call that came before its result. */
  #noteHeld(toolCallId: string): void {
    const texts = this.#heldNotes.get(toolCallId) ?? [];
    this.#heldNotes.delete(toolCallId);
    for (const text of texts) this.#note(toolCallId, text);
  }

  /** Attaches context to the user's last message. */
  #addContext(text: string, images: readonly string[]): void {
    const index = this.#messages.findLastIndex((message) => message.role === "user");
    const message = this.#messages[index];
    if (message !== undefined && images.length > 0) this.#unfilled.add(index, { images });
    if (text !== "" && message?.role === "user") {
      const attached = message.attached === undefined ? text : `${message.attached}\n\n${text}`;
      this.#messages[index] = { ...message, attached };
    }
  }

  #push(message: Message): void {
    // While calls are open, a further one belongs to the same message: providers want results behind all calls.
    if (message.role !== "tool" || this.#unanswered.size === 0) this.#answer = undefined;
    this.#messages.push(message);
  }

  #currentAnswer(): Draft {
    if (this.#answer === undefined) {
      this.#answer = { role: "assistant", text: "", toolCalls: [] };
      this.#messages.push(this.#answer);
    }
    return this.#answer;
  }

  /** Adds a result to each call that has none, e.g. after an interrupted turn: models refuse a conversation without them. */
  #closeOpenCalls(): void {
    for (const [id, name] of this.#unanswered) {
      const message = this.#begun.has(id)
        ? "The turn broke off during this call. Whether it took effect is not known: look before you repeat it."
        : "The turn broke off before this call, so it did not run.";
      const output = JSON.stringify({ error: { code: "interrupted", message, retryable: false } });
      this.#messages.push({ role: "tool", id, name, output, isError: true });
    }
    this.#unanswered.clear();
    this.#begun.clear();
    for (const id of [...this.#heldNotes.keys()]) this.#noteHeld(id);
  }
}

function callOf({ id, name, argumentsJson, providerState }: MessageCall): MessageCall {
  return { id, name, argumentsJson, ...(providerState === undefined ? {} : { providerState }) };
}

function digests(images: readonly { readonly sha256: string }[]): readonly string[] {
  return images.map(({ sha256 }) => sha256);
}

/** What the model is told of a command that it did not call. */
function ranByUser(text: string): string {
  return `I ran this command myself, not you: ${text.slice(1)}`;
}

const argumentsSchema = z.object({ names: z.array(z.string()) });

/** Names of tools that a call asks to be told of: one of `LoadTools`; none otherwise. */
function wantedBy(call: { readonly name: string; readonly argumentsJson: string }): readonly string[] {
  if (call.name !== "LoadTools") return [];
  return argumentsSchema.safeParse(parsedJson(call.argumentsJson)).data?.names ?? [];
}
