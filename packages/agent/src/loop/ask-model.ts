import type { ToolCall } from "@gennai/governance/gate/gate-journal";
import { toolErrorJson } from "@gennai/governance/tool-error";
import { estimateText } from "../events/token-estimate.ts";
import type { Cost, Usage } from "../events/usage.ts";
import type { FinishReason, ToolDefinition } from "../model.ts";
import { withShownImages } from "../shown-images.ts";
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

/** Gets one answer from the model and emits it to the sink as it arrives. Rejects with `ModelError`. */
export async function askModel(
  turn: Pick<
    TurnOptions,
    | "model"
    | "conversation"
    | "contextTokens"
    | "enableThinking"
    | "effort"
    | "cacheKey"
    | "callIds"
    | "sink"
    | "newItemId"
    | "signal"
  >,
  question: ModelQuestion,
): Promise<ModelAnswer> {
  const { model, sink, signal, conversation } = turn;
  let textItem = turn.newItemId();
  let thinkingItem = turn.newItemId();
  const ids = new Set<string>();
  const ofTurn = turn.callIds ?? ids;
  const isTaken = (id: string): boolean => ids.has(id) || ofTurn.has(id) || conversation.hasCall(id);
  let calls: ToolCall[] = [];
  /** Calls already announced to clients, by the ids that clients got. */
  let begun = new Map<string, string>();
  let finish: FinishReason = "other";
  let waits = false;
  let made = 0;
  let written = 0;
  let counted = false;
  let text = "";
  let thinking = "";
  const count = (usage: Usage, estimated: boolean) => {
    counted = true;
    const cost = question.used(usage);
    sink.emit({
      type: "usage",
      ...usage,
      ...(cost === undefined ? {} : { cost }),
      modelId: model.id,
      maxContextTokens: turn.contextTokens || model.maxContextTokens,
      ...(estimated ? { estimated } : {}),
    });
  };
  const refuse = (call: ToolCall, error: Parameters<typeof toolErrorJson>[0]) => {
    sink.emit({
      type: "tool-result",
      id: call.id,
      name: call.name,
      output: toolErrorJson(error),
      error: error.message,
      truncated: false,
      verification: "unverified",
      failureClass: "command_error",
      observed: [],
    });
  };
  /** Estimates the use if the provider did not report it. */
  const guessUse = () => {
    if (counted || !question.mustCount) return;
    const outputTokens = written + estimateText(text) + estimateText(thinking);
    count({ inputTokens: question.inputTokens, outputTokens }, true);
  };
  let refusals: (() => void)[] = [];
  /** Discards the answer so far; clients are told that its announced calls did not run. */
  const drop = (reason: string) => {
    // The provider bills it anyway.
    guessUse();
    counted = false;
    for (const [id, name] of begun) refuse({ id, name, argumentsJson: "" }, brokenOff);
    sink.emit({ type: "answer-dropped", reason });
    text = "";
    thinking = "";
    made = 0;
    written = 0;
    calls = [];
    refusals = [];
    begun = new Map();
    ids.clear();
    textItem = turn.newItemId();
    thinkingItem = turn.newItemId();
  };
  conversation.asked = {
    tools: question.definitions,
    enableThinking: turn.enableThinking,
    ...(turn.effort === undefined ? {} : { effort: turn.effort }),
    ...(turn.cacheKey === undefined ? {} : { cacheKey: turn.cacheKey }),
  };
  const stream = model.stream(
    {
      ...conversation.asked,
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
      if (waits && event.type !== "waiting") {
        waits = false;
        sink.emit({ type: "status", state: "thinking", iteration: question.iteration });
      }
      switch (event.type) {
        case "waiting":
          waits = true;
          sink.emit({ type: "warning", text: event.reason });
          sink.emit({
            type: "status",
            state: "waiting-for-provider",
            iteration: question.iteration,
            until: event.until,
          });
          break;
        case "restart":
          drop(event.reason);
          break;
        case "thinking-delta":
          thinking += event.text;
          sink.emit(event, thinkingItem);
          break;
        case "text-delta":
          text += event.text;
          sink.emit(event, textItem);
          break;
        case "tool-call-start":
        case "tool-call-delta":
          if (made >= maxCallsOfAnswer) break;
          if (event.type === "tool-call-start") begun.set(event.id, event.name);
          sink.emit(event, event.id);
          break;
        case "tool-call": {
          made++;
          if (made > maxCallsOfAnswer) break;
          written += estimateText(event.argumentsJson);
          const call = { id: freeId(event.id, isTaken), name: event.name, argumentsJson: event.argumentsJson };
          const twice = ids.has(event.id);
          ids.add(event.id);
          ofTurn.add(call.id);
          begun.delete(event.id);
          begun.set(call.id, call.name);
          sink.emit({ ...event, id: call.id }, event.id);
          if (twice) refusals.push(() => refuse(call, sameId));
          else calls.push(call);
          break;
        }
        case "usage":
          count(event, false);
          break;
        case "finish":
          finish = event.reason;
          break;
      }
    }
  } catch (error) {
    // An answer that the user stopped is kept as far as it came; one that broke off for another reason is dropped,
    // because nothing would continue it.
    if (!signal.aborted && (text !== "" || thinking !== "" || begun.size > 0)) drop("The model's answer broke off.");
    throw error;
  }
  guessUse();
  if (begun.size > 0 && (finish === "content-filter" || finish === "malformed")) {
    drop("The model's answer was refused or cannot be read, and its calls with it.");
    return { text, thinking, calls, made, finish };
  }
  if (made > maxCallsOfAnswer) {
    sink.emit({
      type: "warning",
      text: `The model made ${made} calls in one answer; only the first ${maxCallsOfAnswer} were taken.`,
    });
  }
  if (made > 0) sink.emit({ type: "status", state: "waiting-tool-result", iteration: question.iteration });
  for (const refusal of refusals) refusal();
  return { text, thinking, calls, made, finish };
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

/** Makes call ids unique: some providers start counting again in every answer, so results could not be told apart. */
function freeId(id: string, isTaken: (id: string) => boolean): string {
  if (!isTaken(id)) return id;
  let number = 2;
  while (isTaken(`${id}-${number}`)) number++;
  return `${id}-${number}`;
}
