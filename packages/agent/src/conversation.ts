import { KeptFacts } from "./compaction/kept-facts.ts";
import type { Message, MessageCall } from "./model.ts";
import type { ProposalReview } from "./proposal.ts";
import type { Compacted, LoggedEvent } from "./session-event.ts";
import { estimateMessages } from "./token-estimate.ts";

type Assistant = Extract<Message, { readonly role: "assistant" }>;
type Draft = { -readonly [Key in keyof Assistant]: Assistant[Key] } & { toolCalls: Assistant["toolCalls"][number][] };

interface Unfilled {
  readonly index: number;
  readonly output?: string;
  readonly images?: readonly string[];
  /** Stands behind the output. */
  readonly note?: string;
}

const decoder = new TextDecoder();

/** An output of this many characters is left out when room is needed. Less than a blob's beginning that stays in the log. */
const largeOutput = 2_000;

const leftOut = "[This output was left out to save room. Call the tool again if you need it.]";

/**
 * What the model has been told so far: a fold over the session's log. Messages are only ever added, so providers can cache,
 * until a compaction makes the first ones fewer.
 */
export class Conversation {
  #messages: Message[] = [];
  #answer: Draft | undefined;
  /** Calls that have no result yet, in order. */
  #unanswered = new Map<string, string>();
  /** Messages whose content is still in blobs. */
  #unfilled: Unfilled[] = [];
  readonly #facts = new KeptFacts();
  readonly #callIds = new Set<string>();
  /** What the provider counted last, and how many messages that were. */
  #measured: { readonly tokens: number; readonly messages: number } | undefined;

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** True when some call of the session had this id. */
  hasCall(id: string): boolean {
    return this.#callIds.has(id);
  }

  /**
   * Tokens the next request will take: what the provider counted last and a guess at what came since, or all guessed.
   * @param overhead guess at what goes with every request: the system prompt and the tools
   */
  tokens(overhead: number): number {
    const { tokens, messages } = this.#measured ?? { tokens: overhead, messages: 0 };
    return tokens + estimateMessages(this.#messages.slice(messages));
  }

  /** What the first messages become when a compaction drops them. */
  compactedMessage({ summary, dropped, room }: Pick<Compacted, "summary" | "dropped" | "room">): Message {
    const shown = this.#messages.slice(dropped).flatMap((message) => (message.role === "user" ? [message.text] : []));
    // A summary must not be able to speak as what the server recorded.
    const told = summary.replaceAll(/<(\/?)(summary|recorded)/gi, "&lt;$1$2");
    const facts = this.#facts.text(new Set(shown), room);
    const parts = [
      "[The conversation up to here was shortened.]",
      ...(told === "" ? [] : [`A summary of it, by the model that had it:\n<summary>\n${told}\n</summary>`]),
      ...(facts === ""
        ? []
        : [`What the server recorded; where the summary says otherwise, this is right:\n\n${facts}`]),
    ];
    return { role: "note", text: parts.join("\n\n") };
  }

  /** Large outputs among the first messages, which `stage: "outputs"` would leave out: their place and how they would be. */
  largeOutputs(dropped: number): ReadonlyMap<number, Message> {
    const found = new Map<number, Message>();
    for (const [index, message] of this.#messages.slice(0, dropped).entries()) {
      if (message.role === "tool" && message.output.length > largeOutput)
        found.set(index, { ...message, output: leftOut });
    }
    return found;
  }

  /**
   * Fetches what the log keeps as blobs: large outputs and images. Call it before the messages go to a model.
   * @param read content by digest; undefined when it was purged
   */
  async fill(read: (sha256: string) => Promise<Uint8Array | undefined>): Promise<void> {
    for (const { index, output, images, note = "" } of this.#unfilled.splice(0)) {
      const message = this.#messages[index];
      if (message?.role === "tool" && output !== undefined) {
        const bytes = await read(output);
        const text = bytes === undefined ? `${message.output}\n[the rest is no longer stored]` : decoder.decode(bytes);
        this.#messages[index] = { ...message, output: text + note };
      } else if (message?.role === "user" && images !== undefined) {
        const found = await Promise.all(images.map(read));
        this.#messages[index] = { ...message, images: found.filter((bytes) => bytes !== undefined) };
      }
    }
  }

  apply(logged: LoggedEvent): void {
    const { event } = logged;
    this.#facts.apply(logged);
    if (event.type === "tool-call") this.#callIds.add(event.id);
    if (event.parentToolCallId !== undefined) return;
    switch (event.type) {
      case "user-message":
        this.#closeOpenCalls();
        this.#push({ role: "user", text: event.text });
        if (event.images.length > 0) {
          this.#unfilled.push({
            index: this.#messages.length - 1,
            images: event.images.map((image) => image.sha256),
          });
        }
        break;
      case "status":
        // A new model call begins a new answer.
        if (event.state === "thinking") this.#answer = undefined;
        break;
      case "text-delta":
        this.#currentAnswer().text += event.text;
        break;
      case "tool-call":
        this.#currentAnswer().toolCalls.push(callOf(event));
        this.#unanswered.set(event.id, event.name);
        break;
      case "tool-result":
        this.#unanswered.delete(event.id);
        this.#push({
          role: "tool",
          id: event.id,
          name: event.name,
          output: event.output,
          isError: event.error !== undefined,
        });
        if (event.outputBlob !== undefined) {
          this.#unfilled.push({ index: this.#messages.length - 1, output: event.outputBlob.sha256 });
        }
        break;
      case "context-added":
        this.#addContext(event.text);
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
        break;
      case "proposal-review":
        this.#closeOpenCalls();
        this.#push({ role: "note", text: reviewForModel(event.review) });
        break;
      case "change-set-undone":
        this.#closeOpenCalls();
        this.#push({
          role: "note",
          text: `[The user took back changes to: ${event.files.map((file) => file.path).join(", ")}. Read a file again before you edit it.]`,
        });
        break;
      case "checkpoint-restored":
        this.#closeOpenCalls();
        this.#push({ role: "note", text: restoreForModel(event.files) });
        break;
      case "session-cleared":
        this.#messages = [];
        this.#answer = undefined;
        this.#unanswered = new Map();
        this.#unfilled = [];
        this.#measured = undefined;
        break;
      default:
        break;
    }
  }

  #compact(event: Compacted): void {
    const { stage, dropped, tokensAfter } = event;
    if (stage === "outputs") {
      const outputs = this.largeOutputs(dropped);
      for (const [index, message] of outputs) this.#messages[index] = message;
      this.#unfilled = this.#unfilled.filter(({ index, output }) => output === undefined || !outputs.has(index));
    } else {
      const first = this.compactedMessage(event);
      const gone = this.#messages.slice(0, dropped);
      // A result must not come behind a call that nobody knows any more.
      for (const message of gone) {
        if (message.role === "assistant") for (const { id } of message.toolCalls) this.#unanswered.delete(id);
      }
      if (this.#answer !== undefined && gone.includes(this.#answer)) this.#answer = undefined;
      this.#messages = [first, ...this.#messages.slice(dropped)];
      this.#unfilled = this.#unfilled
        .filter(({ index }) => index >= dropped)
        .map((each) => ({ ...each, index: each.index - dropped + 1 }));
    }
    this.#measured = { tokens: tokensAfter, messages: this.#messages.length };
  }

  #note(toolCallId: string, text: string): void {
    const index = this.#messages.findLastIndex((message) => message.role === "tool" && message.id === toolCallId);
    const message = this.#messages[index];
    if (message?.role !== "tool") return;
    const note = `\n\n[${text}]`;
    const fetched = this.#unfilled.findIndex((each) => each.index === index);
    const waiting = this.#unfilled[fetched];
    if (waiting === undefined) this.#messages[index] = { ...message, output: message.output + note };
    else this.#unfilled[fetched] = { ...waiting, note: (waiting.note ?? "") + note };
  }

  /** Belongs to what the user said last. */
  #addContext(text: string): void {
    const index = this.#messages.findLastIndex((message) => message.role === "user");
    const message = this.#messages[index];
    if (text !== "" && message?.role === "user") {
      const attached = message.attached === undefined ? text : `${message.attached}\n\n${text}`;
      this.#messages[index] = { ...message, attached };
    }
  }

  #push(message: Message): void {
    this.#answer = undefined;
    this.#messages.push(message);
  }

  #currentAnswer(): Draft {
    if (this.#answer === undefined) {
      this.#answer = { role: "assistant", text: "", toolCalls: [] };
      this.#messages.push(this.#answer);
    }
    return this.#answer;
  }

  /** Models refuse a conversation in which a call has no result: a turn that broke off leaves such calls. */
  #closeOpenCalls(): void {
    for (const [id, name] of this.#unanswered) {
      const output = JSON.stringify({
        error: {
          code: "interrupted",
          message:
            "The turn broke off during this call. Whether it took effect is not known: look before you repeat it.",
          retryable: false,
        },
      });
      this.#messages.push({ role: "tool", id, name, output, isError: true });
    }
    this.#unanswered.clear();
    this.#answer = undefined;
  }
}

function callOf({ id, name, argumentsJson, providerState }: MessageCall): MessageCall {
  return { id, name, argumentsJson, ...(providerState === undefined ? {} : { providerState }) };
}

/** Files named to the model when many are restored at once. */
const maxRestored = 100;

function restoreForModel(files: readonly { readonly path: string }[]): string {
  const named = files.slice(0, maxRestored).map(({ path }) => JSON.stringify(path));
  const more = files.length > named.length ? ` and ${files.length - named.length} more` : "";
  return `[The user restored these files to an earlier state: ${named.join(", ")}${more}. Read a file again before you edit it.]`;
}

function reviewForModel(review: ProposalReview): string {
  const lines = review.hunks.map((hunk) => {
    const which = hunk.hunkId === "" ? hunk.changeId : `${hunk.changeId}, hunk ${hunk.hunkId}`;
    const edited = hunk.decision === "edited" ? `; the user's text:\n${hunk.editedText}` : "";
    return `- ${which}: ${hunk.decision}${hunk.note === "" ? "" : ` (${hunk.note})`}${edited}`;
  });
  const note = review.note === "" ? "" : `\nThe user says: ${review.note}`;
  return `[The user reviewed the proposed changes.]\n${lines.join("\n")}${note}`;
}
