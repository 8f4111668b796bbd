import type { ToolCall } from "@gennai/governance/gate/gate-journal";
import { toolErrorJson } from "@gennai/governance/tool-error";
import type { ToolDefinition } from "./model.ts";
import { estimateText } from "./token-estimate.ts";
import type { TurnOptions } from "./turn-loop.ts";
import type { Cost, Usage } from "./usage.ts";

/** Calls of one answer that are taken; a model that makes more has lost its way. */
const maxCallsOfAnswer = 100;

export interface ModelAnswer {
  readonly text: string;
  readonly thinking: string;
  /** Those to run, in order. */
  readonly calls: readonly ToolCall[];
  /** All that were made, those that were refused at once included. */
  readonly made: number;
}

/** What one model call is made of. */
export interface ModelQuestion {
  readonly system: string;
  readonly definitions: readonly ToolDefinition[];
  readonly iteration: number;
  /** Tokens; 0: the provider's default. */
  readonly maxOutputTokens: number;
  /** Guess at what is sent. */
  readonly inputTokens: number;
  /** Books what the answer took; its price, where one is known. */
  used(usage: Usage): Cost | undefined;
  /** Nobody else counts, so that an answer whose use is not told must be guessed. */
  readonly mustCount: boolean;
}

/** One answer of the model, told to the sink as it comes. Rejects with `ModelError`. */
export async function askModel(
  turn: Pick<TurnOptions, "model" | "conversation" | "enableThinking" | "callIds" | "sink" | "newItemId" | "signal">,
  question: ModelQuestion,
): Promise<ModelAnswer> {
  const { model, sink, signal, conversation } = turn;
  const textItem = turn.newItemId();
  const thinkingItem = turn.newItemId();
  const ids = new Set<string>();
  const ofTurn = turn.callIds ?? ids;
  const isTaken = (id: string): boolean => ids.has(id) || ofTurn.has(id) || conversation.hasCall(id);
  const calls: ToolCall[] = [];
  const facts = { modelId: model.id, maxContextTokens: model.maxContextTokens };
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
      ...facts,
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
  const refusals: (() => void)[] = [];
  const stream = model.stream(
    {
      system: question.system,
      messages: conversation.messages,
      tools: question.definitions,
      enableThinking: turn.enableThinking,
      maxOutputTokens: question.maxOutputTokens,
    },
    { signal },
  );
  for await (const event of stream) {
    signal.throwIfAborted();
    switch (event.type) {
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
        if (made < maxCallsOfAnswer) sink.emit(event, event.id);
        break;
      case "tool-call": {
        made++;
        if (made > maxCallsOfAnswer) break;
        written += estimateText(event.argumentsJson);
        const call = { id: freeId(event.id, isTaken), name: event.name, argumentsJson: event.argumentsJson };
        const twice = ids.has(event.id);
        ids.add(event.id);
        ofTurn.add(call.id);
        sink.emit({ ...event, id: call.id }, event.id);
        if (twice) refusals.push(() => refuse(call, sameId));
        else calls.push(call);
        break;
      }
      case "usage":
        count(event, false);
        break;
      case "finish":
        if (event.reason === "length")
          sink.emit({ type: "warning", text: "The model's answer was cut off at its output limit." });
        if (event.reason === "content-filter")
          sink.emit({ type: "warning", text: "The provider's filter stopped the model's answer." });
        break;
    }
  }
  if (!counted && question.mustCount) {
    const outputTokens = written + estimateText(text) + estimateText(thinking);
    count({ inputTokens: question.inputTokens, outputTokens }, true);
  }
  if (made > maxCallsOfAnswer) {
    sink.emit({
      type: "warning",
      text: `The model made ${made} calls in one answer; only the first ${maxCallsOfAnswer} were taken.`,
    });
  }
  if (made > 0) sink.emit({ type: "status", state: "waiting-tool-result", iteration: question.iteration });
  for (const refusal of refusals) refusal();
  return { text, thinking, calls, made };
}

const sameId = {
  code: "duplicate_call_id",
  message: "Another call of the same answer has the same id, so this one did not run.",
  rule: "loop/call-id",
  hint: "Call it again, with an id of its own.",
  retryable: true,
} as const;

/** Some servers count their ids anew for every answer; results could then not be told apart. */
function freeId(id: string, isTaken: (id: string) => boolean): string {
  if (!isTaken(id)) return id;
  let number = 2;
  while (isTaken(`${id}-${number}`)) number++;
  return `${id}-${number}`;
}
