import type { ToolCall } from "@gennai/governance/gate-journal";
import { type ToolError, toolErrorJson } from "@gennai/governance/tool-error";
import { withShownImages } from "../conversation/shown-images.ts";
import { estimateText } from "../conversation/token-estimate.ts";
import type { FinishReason, ModelEvent, ToolDefinition } from "../model.ts";
import type { Cost, Usage } from "../usage.ts";
import type { TurnOptions } from "./turn-loop.ts";

/** Maximum calls accepted from one answer; a model that makes more is stuck. */
const maxCallsOfAnswer = 100;

export interface ModelAnswer {
  readonly text: string;
  readonly thinking: string;
  /** The calls to run, in order. */
  readonly calls: readonly ToolCall[];
  /** Number of all calls, including those that were refused at once. */
  readonly made: number;
  readonly finish: FinishReason;
}

/** What one model call needs. */
export interface ModelQuestion {
  readonly system: string;
  readonly definitions: readonly ToolDefinition[];
  readonly iteration: number;
  /** Tokens; 0: the provider's default. */
  readonly maxOutputTokens: number;
  /** Estimated size of the request. */
  readonly inputTokens: number;
  /** Records the tokens of the answer. Returns their cost, if a price is known. */
  used(usage: Usage): Cost | undefined;
  /** True if nothing else counts tokens: if the provider reports no use, it must be estimated. */
  readonly mustCount: boolean;
}

type AskingTurn = Pick<
  TurnOptions,
  "model" | "conversation" | "contextTokens" | "request" | "callIds" | "sink" | "newItemId" | "signal"
>;

/** Gets one answer from the model and emits it to the sink as it arrives. Rejects with `ModelError`. */
export async function askModel(turn: AskingTurn, question: ModelQuestion): Promise<ModelAnswer> {
  const { model, conversation, request, signal } = turn;
  const asking = new Asking(turn, question);
  const { maxOutputTokens: _, ...asked } = { ...request, tools: question.definitions };
  conversation.asked = asked;
  const stream = model.stream(
    {
      ...asked,
      system: question.system,
      // A snapshot: the answer is folded into the conversation while it arrives, and a retry must send the same
      // request.
      messages: withShownImages(conversation.messages, { sees: model.capabilities.vision }),
      maxOutputTokens: question.maxOutputTokens,
    },
    { signal },
  );
  try {
    for await (const event of stream) {
      signal.throwIfAborted();
      asking.take(event);
    }
  } catch (error) {
    // An answer that the user stopped is kept as far as it came; one that broke off for another reason is dropped,
    // because nothing would continue it.
    if (!signal.aborted) asking.breakOff();
    throw error;
  }
  return asking.end();
}

/** What came of an answer so far. */
interface Draft {
  text: string;
  thinking: string;
  made: number;
  /** Estimated tokens of the calls' arguments. */
  written: number;
  /** The provider said how many tokens it took. */
  counted: boolean;
  readonly calls: ToolCall[];
  /** Calls with the id of another one. */
  readonly twice: ToolCall[];
  /** Names of the calls that clients were told of, by the ids that clients got. */
  readonly begun: Map<string, string>;
  /** Ids of the calls as the provider gave them. */
  readonly ids: Set<string>;
  readonly textItem: string;
  readonly thinkingItem: string;
}

/** One request until its answer is complete: each event goes to the sink and into the draft. */
class Asking {
  readonly #turn: AskingTurn;
  readonly #question: ModelQuestion;
  readonly #callIds: Set<string>;
  #draft: Draft;
  #finish: FinishReason = "other";
  #waits = false;

  constructor(turn: AskingTurn, question: ModelQuestion) {
    this.#turn = turn;
    this.#question = question;
    this.#callIds = turn.callIds ?? new Set();
    this.#draft = this.#emptyDraft();
  }

  take(event: ModelEvent): void {
    const { sink } = this.#turn;
    const { iteration } = this.#question;
    const draft = this.#draft;
    if (this.#waits && event.type !== "waiting") {
      this.#waits = false;
      sink.emit({ type: "status", state: "thinking", iteration });
    }
    switch (event.type) {
      case "waiting":
        this.#waits = true;
        sink.emit({ type: "warning", text: event.reason });
        sink.emit({ type: "status", state: "waiting-for-provider", iteration, until: event.until });
        break;
      case "restart":
        this.#drop(event.reason);
        break;
      case "thinking-delta":
        draft.thinking += event.text;
        sink.emit(event, draft.thinkingItem);
        break;
      case "text-delta":
        draft.text += event.text;
        sink.emit(event, draft.textItem);
        break;
      case "tool-call-start":
      case "tool-call-delta":
        if (draft.made >= maxCallsOfAnswer) break;
        if (event.type === "tool-call-start") draft.begun.set(event.id, event.name);
        sink.emit(event, event.id);
        break;
      case "tool-call":
        draft.made++;
        if (draft.made <= maxCallsOfAnswer) this.#takeCall(event);
        break;
      case "usage":
        this.#count(event, false);
        break;
      case "finish":
        this.#finish = event.reason;
        break;
    }
  }

  breakOff(): void {
    const { text, thinking, begun } = this.#draft;
    if (text !== "" || thinking !== "" || begun.size > 0) this.#drop("The model's answer broke off.");
  }

  end(): ModelAnswer {
    const { sink } = this.#turn;
    const finish = this.#finish;
    this.#guessUse();
    if (this.#draft.begun.size > 0 && (finish === "content-filter" || finish === "malformed")) {
      this.#drop("The model's answer was refused or cannot be read, and its calls with it.");
    }
    const { text, thinking, calls, made, twice } = this.#draft;
    if (made > maxCallsOfAnswer) {
      const limit = `only the first ${maxCallsOfAnswer} were taken`;
      sink.emit({ type: "warning", text: `The model made ${made} calls in one answer; ${limit}.` });
    }
    if (made > 0) sink.emit({ type: "status", state: "waiting-tool-result", iteration: this.#question.iteration });
    for (const call of twice) this.#refuse(call, sameId);
    return { text, thinking, calls, made, finish };
  }

  #takeCall(event: Extract<ModelEvent, { readonly type: "tool-call" }>): void {
    const { written, twice, calls, begun, ids } = this.#draft;
    this.#draft.written = written + estimateText(event.argumentsJson);
    const call = { id: this.#freeId(event.id), name: event.name, argumentsJson: event.argumentsJson };
    (ids.has(event.id) ? twice : calls).push(call);
    ids.add(event.id);
    this.#callIds.add(call.id);
    begun.delete(event.id);
    begun.set(call.id, call.name);
    this.#turn.sink.emit({ ...event, id: call.id }, event.id);
  }

  /** Makes call ids unique: some providers start counting again in every answer, so results could not be told apart. */
  #freeId(id: string): string {
    const { conversation } = this.#turn;
    const isTaken = (one: string) => this.#draft.ids.has(one) || this.#callIds.has(one) || conversation.hasCall(one);
    if (!isTaken(id)) return id;
    let number = 2;
    while (isTaken(`${id}-${number}`)) number++;
    return `${id}-${number}`;
  }

  /** Discards the answer so far; clients are told that its announced calls did not run. */
  #drop(reason: string): void {
    // The provider bills it anyway.
    this.#guessUse();
    for (const [id, name] of this.#draft.begun) this.#refuse({ id, name }, brokenOff);
    this.#turn.sink.emit({ type: "answer-dropped", reason });
    this.#draft = this.#emptyDraft();
  }

  #refuse({ id, name }: Pick<ToolCall, "id" | "name">, error: ToolError): void {
    this.#turn.sink.emit({
      type: "tool-result",
      id,
      name,
      output: toolErrorJson(error),
      error: error.message,
      truncated: false,
      verification: "unverified",
      failureClass: "command_error",
      observed: [],
    });
  }

  /** Estimates the use if the provider did not report it. */
  #guessUse(): void {
    const { counted, written, text, thinking } = this.#draft;
    if (counted || !this.#question.mustCount) return;
    const outputTokens = written + estimateText(text) + estimateText(thinking);
    this.#count({ inputTokens: this.#question.inputTokens, outputTokens }, true);
  }

  #count(usage: Usage, estimated: boolean): void {
    const { sink, model, contextTokens } = this.#turn;
    this.#draft.counted = true;
    const cost = this.#question.used(usage);
    sink.emit({
      type: "usage",
      ...usage,
      ...(cost === undefined ? {} : { cost }),
      modelId: model.id,
      maxContextTokens: contextTokens || model.maxContextTokens,
      ...(estimated ? { estimated } : {}),
    });
  }

  #emptyDraft(): Draft {
    const items = { textItem: this.#turn.newItemId(), thinkingItem: this.#turn.newItemId() };
    const calls = { calls: [], twice: [], begun: new Map(), ids: new Set<string>() };
    return { text: "", thinking: "", made: 0, written: 0, counted: false, ...calls, ...items };
  }
}

const brokenOff = {
  code: "answer_broke_off",
  message: "The model's answer broke off, so this call did not run.",
  rule: "loop/broken-answer",
  retryable: true,
} as const;

const sameId = {
  code: "duplicate_call_id",
  message: "Another call of the same answer has the same id, so this one did not run.",
  rule: "loop/call-id",
  hint: "Call it again, with an id of its own.",
  retryable: true,
} as const;
