import type { CallResult, GovernedTools } from "@gennai/governance/gate/gate";
import type { ToolCall } from "@gennai/governance/gate/gate-journal";
import * as z from "zod";
import type { Conversation } from "./conversation.ts";
import { type Model, ModelError, type ToolDefinition } from "./model.ts";
import type { SessionEvent } from "./session-event.ts";

/** Where the loop puts what happens. Events arrive in the session's log in this order. */
export interface TurnSink {
  /** @param itemId joins the deltas of one item */
  emit(event: SessionEvent, itemId?: string): void;
  /** Resolves when everything emitted so far is on its way to the log, before anything that others write from then on. */
  settle(): Promise<void>;
  /** Resolves when everything emitted so far is in the log and folded into the conversation. */
  flush(): Promise<void>;
}

export interface TurnOptions {
  readonly turnId: string;
  readonly model: Model;
  readonly tools: GovernedTools;
  readonly conversation: Conversation;
  /** Made anew for each model call: todos and rules may have changed. */
  readonly system: () => Promise<string>;
  readonly enableThinking: boolean;
  readonly maxOutputTokens: number;
  /** Model calls this turn may take. */
  readonly maxIterations: number;
  readonly sink: TurnSink;
  readonly newItemId: () => string;
  readonly signal: AbortSignal;
}

export type TurnEnd =
  | { readonly type: "completed" }
  | { readonly type: "cancelled" }
  | {
      readonly type: "failed";
      readonly code: string;
      readonly message: string;
      readonly hint?: string;
      readonly retryable: boolean;
    };

/** The same refused call this often in a row ends the turn. */
const maxRepeatedRefusals = 3;

/**
 * One turn: ask the model, run what it calls through the gate, tell it the results, until it answers without a call.
 * The caller has logged the user's message; the end is returned, not logged.
 */
export async function runTurn(options: TurnOptions): Promise<TurnEnd> {
  const { sink, tools, signal, turnId } = options;
  const definitions = toolDefinitions(tools);
  const refusals = new RepeatedRefusals();
  const usage = { inputTokens: 0, outputTokens: 0 };
  try {
    for (let iteration = 1; iteration <= options.maxIterations; iteration++) {
      signal.throwIfAborted();
      await sink.flush();
      // Written while the model is on its way; nothing it folds into reaches this request.
      sink.emit({ type: "status", state: "thinking", iteration });
      const answer = await askModel(options, definitions, iteration, usage);
      signal.throwIfAborted();

      if (answer.calls.length === 0) {
        sink.emit({
          type: "final",
          text: answer.text,
          thinking: answer.thinking,
          ...usage,
          ...modelFacts(options.model),
        });
        return { type: "completed" };
      }
      // The gate writes to the log itself, and a result comes behind its call.
      await sink.settle();
      const results = await tools.run(answer.calls, { turnId, signal });
      signal.throwIfAborted();
      const repeated = refusals.count(results);
      if (repeated !== undefined) {
        return {
          type: "failed",
          code: "repeated_refusal",
          message: `The model made the same refused ${repeated.name} call ${maxRepeatedRefusals} times in a row, so the turn ended.`,
          hint: "Tell the model what to do instead, or change the rule that refuses it.",
          retryable: false,
        };
      }
    }
    return {
      type: "failed",
      code: "iteration_limit",
      message: `The turn reached its limit of ${options.maxIterations} model calls.`,
      hint: "Ask it to continue, or raise max_iterations.",
      retryable: true,
    };
  } catch (error) {
    if (signal.aborted) return { type: "cancelled" };
    if (error instanceof ModelError) {
      return {
        type: "failed",
        code: `model_${error.code}`,
        message: error.message,
        ...(error.hint === undefined ? {} : { hint: error.hint }),
        retryable: error.retryable,
      };
    }
    throw error;
  } finally {
    await sink.settle();
  }
}

interface ModelAnswer {
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly ToolCall[];
}

async function askModel(
  options: TurnOptions,
  definitions: readonly ToolDefinition[],
  iteration: number,
  total: { inputTokens: number; outputTokens: number },
): Promise<ModelAnswer> {
  const { model, sink, signal } = options;
  const textItem = options.newItemId();
  const thinkingItem = options.newItemId();
  const calls: ToolCall[] = [];
  let text = "";
  let thinking = "";
  const stream = model.stream(
    {
      system: await options.system(),
      messages: options.conversation.messages,
      tools: definitions,
      enableThinking: options.enableThinking,
      maxOutputTokens: options.maxOutputTokens,
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
        sink.emit(event, event.id);
        break;
      case "tool-call":
        calls.push({ id: uniqueId(event.id, calls), name: event.name, argumentsJson: event.argumentsJson });
        sink.emit({ ...event, id: calls[calls.length - 1]?.id ?? event.id }, event.id);
        break;
      case "usage":
        total.inputTokens += event.inputTokens;
        total.outputTokens += event.outputTokens;
        sink.emit({ ...event, ...modelFacts(model) });
        break;
      case "finish":
        if (event.reason === "length") {
          sink.emit({ type: "warning", text: "The model's answer was cut off at its output limit." });
        }
        break;
    }
  }
  if (calls.length > 0) sink.emit({ type: "status", state: "waiting-tool-result", iteration });
  return { text, thinking, calls };
}

/** Some servers reuse an id within one answer; results could then not be told apart. */
function uniqueId(id: string, calls: readonly ToolCall[]): string {
  return calls.some((call) => call.id === id) ? `${id}-${calls.length}` : id;
}

function modelFacts(model: Model): { readonly modelId: string; readonly maxContextTokens: number } {
  return { modelId: model.id, maxContextTokens: model.maxContextTokens };
}

function toolDefinitions(tools: GovernedTools): readonly ToolDefinition[] {
  return [...tools.tools].map(({ name, description, parameters, inputSchema }) => ({
    name,
    description,
    inputSchema: inputSchema ?? jsonSchemaOf(parameters),
  }));
}

/** Tools are made anew for every turn, their schemas are not. */
const jsonSchemas = new WeakMap<z.ZodType, ToolDefinition["inputSchema"]>();

function jsonSchemaOf(parameters: z.ZodType): ToolDefinition["inputSchema"] {
  const known = jsonSchemas.get(parameters);
  if (known !== undefined) return known;
  const schema = z.toJSONSchema(parameters, { io: "input" });
  jsonSchemas.set(parameters, schema);
  return schema;
}

class RepeatedRefusals {
  #last = "";
  #times = 0;

  /** The call that was refused once too often, if any. */
  count(results: readonly CallResult[]): ToolCall | undefined {
    for (const { call, refused } of results) {
      const key = refused ? `${call.name}\n${call.argumentsJson}` : "";
      this.#times = refused && key === this.#last ? this.#times + 1 : refused ? 1 : 0;
      this.#last = key;
      if (this.#times >= maxRepeatedRefusals) return call;
    }
    return undefined;
  }
}
