import type { Message, MessageCall } from "./model.ts";
import type { ProposalReview } from "./proposal.ts";
import type { LoggedEvent } from "./session-event.ts";

type Assistant = Extract<Message, { readonly role: "assistant" }>;
type Draft = { -readonly [Key in keyof Assistant]: Assistant[Key] } & { toolCalls: Assistant["toolCalls"][number][] };

const decoder = new TextDecoder();

/** What the model has been told so far: a fold over the session's log. Messages are only ever added, so providers can cache. */
export class Conversation {
  #messages: Message[] = [];
  #answer: Draft | undefined;
  /** Calls that have no result yet, in order. */
  #unanswered = new Map<string, string>();
  /** Messages whose content is still in blobs. */
  #unfilled: { readonly index: number; readonly output?: string; readonly images?: readonly string[] }[] = [];

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /**
   * Fetches what the log keeps as blobs: large outputs and images. Call it before the messages go to a model.
   * @param read content by digest; undefined when it was purged
   */
  async fill(read: (sha256: string) => Promise<Uint8Array | undefined>): Promise<void> {
    for (const { index, output, images } of this.#unfilled.splice(0)) {
      const message = this.#messages[index];
      if (message?.role === "tool" && output !== undefined) {
        const bytes = await read(output);
        const text = bytes === undefined ? `${message.output}\n[the rest is no longer stored]` : decoder.decode(bytes);
        this.#messages[index] = { ...message, output: text };
      } else if (message?.role === "user" && images !== undefined) {
        const found = await Promise.all(images.map(read));
        this.#messages[index] = { ...message, images: found.filter((bytes) => bytes !== undefined) };
      }
    }
  }

  apply({ event }: LoggedEvent): void {
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
      case "proposal-review":
        this.#closeOpenCalls();
        this.#push({ role: "user", text: reviewForModel(event.review) });
        break;
      case "change-set-undone":
        this.#closeOpenCalls();
        this.#push({
          role: "user",
          text: `[The user took back changes to: ${event.files.map((file) => file.path).join(", ")}. Read a file again before you edit it.]`,
        });
        break;
      case "session-cleared":
        this.#messages = [];
        this.#answer = undefined;
        this.#unanswered = new Map();
        this.#unfilled = [];
        break;
      default:
        break;
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

function reviewForModel(review: ProposalReview): string {
  const lines = review.hunks.map((hunk) => {
    const which = hunk.hunkId === "" ? hunk.changeId : `${hunk.changeId}, hunk ${hunk.hunkId}`;
    const edited = hunk.decision === "edited" ? `; the user's text:\n${hunk.editedText}` : "";
    return `- ${which}: ${hunk.decision}${hunk.note === "" ? "" : ` (${hunk.note})`}${edited}`;
  });
  const note = review.note === "" ? "" : `\nThe user says: ${review.note}`;
  return `[The user reviewed the proposed changes.]\n${lines.join("\n")}${note}`;
}
