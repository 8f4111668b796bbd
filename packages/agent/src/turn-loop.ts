import type { CallResult, GovernedTools } from "@gennai/governance/gate/gate";
import type { ToolCall } from "@gennai/governance/gate/gate-journal";
import * as z from "zod";
import { askModel, type ModelAnswer } from "./ask-model.ts";
import { type CompactionOptions, compact, needsCompaction } from "./compaction/compact.ts";
import type { Conversation } from "./conversation.ts";
import { LoopDetector } from "./loop-detector.ts";
import { type Model, ModelError, type ToolDefinition } from "./model.ts";
import { estimateText } from "./token-estimate.ts";
import type { TurnBudget } from "./turn-budget.ts";
import type { TurnSink } from "./turn-sink.ts";
import { addUsage, type Cost, noUsage, type Usage, type UsageSum } from "./usage.ts";

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
  /** Tokens that the model can take, where somebody knows better than the model; 0: nobody does. */
  readonly contextTokens?: number;
  /** What may be used; without it, there is no limit. */
  readonly budget?: TurnBudget;
  /** Ids of the calls of this turn, where several loops share one. */
  readonly callIds?: Set<string>;
  /** What the session used so far, for the end of the turn. */
  readonly sessionUsage?: () => UsageSum;
  /** Runs before each model call; what it writes to the log is part of that call. */
  readonly beforeModelCall?: () => Promise<void>;
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

/** Tool calls a turn may make, for each model call that it may take. */
const callsPerIteration = 10;

/**
 * One turn: ask the model, run what it calls through the gate, tell it the results, until it answers without a call.
 * The caller has logged the user's message; the end is returned, not logged.
 */
export async function runTurn(options: TurnOptions): Promise<TurnEnd> {
  const { sink, signal } = options;
  try {
    return await new RunningTurn(options).run();
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

class RunningTurn {
  readonly #options: TurnOptions;
  readonly #definitions: readonly ToolDefinition[];
  readonly #toolTokens: number;
  readonly #refusals = new RepeatedRefusals();
  readonly #loops = new LoopDetector();
  #used: UsageSum = noUsage;
  #calls = 0;
  #overflowed = false;

  constructor(options: TurnOptions) {
    this.#options = options;
    this.#definitions = toolDefinitions(options.tools);
    this.#toolTokens = estimateText(JSON.stringify(this.#definitions));
  }

  async run(): Promise<TurnEnd> {
    const { sink, signal, maxIterations } = this.#options;
    for (let iteration = 1; iteration <= maxIterations; iteration++) {
      signal.throwIfAborted();
      await this.#options.beforeModelCall?.();
      await sink.flush();
      const answer = await this.#ask(iteration);
      if ("type" in answer) return answer;
      signal.throwIfAborted();
      if (answer.made === 0) return this.#final(answer);
      const end = await this.#runCalls(answer);
      if (end !== undefined) return end;
    }
    return failed(
      "iteration_limit",
      `The turn reached its limit of ${maxIterations} model calls.`,
      "Ask it to continue, or raise max_iterations.",
      true,
    );
  }

  async #final({ text, thinking }: ModelAnswer): Promise<TurnEnd> {
    const { sink, model, sessionUsage } = this.#options;
    // What this model call took is counted in the session's sum then.
    await sink.flush();
    const { inputTokens, outputTokens, cachedInputTokens, cost } = this.#used;
    if (text.trim() === "") sink.emit({ type: "warning", text: "The model ended the turn without a word." });
    sink.emit({
      type: "final",
      text,
      thinking,
      inputTokens,
      outputTokens,
      modelId: model.id,
      maxContextTokens: model.maxContextTokens,
      ...(cachedInputTokens === 0 ? {} : { cachedInputTokens }),
      ...(cost === undefined ? {} : { cost }),
      ...(sessionUsage === undefined ? {} : { sessionUsage: sessionUsage() }),
    });
    return { type: "completed" };
  }

  /** The answer, or why there is none. Makes room before when it must. */
  async #ask(iteration: number): Promise<ModelAnswer | TurnEnd> {
    const { sink } = this.#options;
    let system = await this.#options.system();
    if (needsCompaction(this.#room(system))) system = (await this.#compact("limit", system)) ?? system;
    for (;;) {
      const { conversation, budget } = this.#options;
      const inputTokens = conversation.tokens(this.#overhead(system));
      const place = budget?.reserve(inputTokens, this.#options.maxOutputTokens);
      if (place?.type === "exceeded") return failed("budget_exceeded", place.message, place.hint, false);
      // Written while the model is on its way; nothing it folds into reaches this request.
      sink.emit({ type: "status", state: "thinking", iteration });
      try {
        return await askModel(this.#options, {
          system,
          definitions: this.#definitions,
          iteration,
          inputTokens,
          maxOutputTokens: place?.maxOutputTokens ?? this.#options.maxOutputTokens,
          used: (usage) => this.#book(usage, place?.used(usage)),
          mustCount: budget?.isLimited ?? false,
        });
      } catch (error) {
        if (!(error instanceof ModelError) || error.code !== "context_overflow") throw error;
        const shorter = this.#overflowed ? undefined : await this.#compact("overflow", system);
        if (shorter === undefined) throw stillTooLong(error);
        this.#overflowed = true;
        system = shorter;
      } finally {
        place?.release();
      }
    }
  }

  #book(usage: Usage, cost: Cost | undefined): Cost | undefined {
    this.#used = addUsage(this.#used, { ...usage, ...(cost === undefined ? {} : { cost }) });
    return cost;
  }

  /** The system prompt as it is then: it stands outside of what is shortened. Undefined when nothing could be. */
  async #compact(reason: "limit" | "overflow", system: string): Promise<string | undefined> {
    const done = await compact({ ...this.#room(system), reason });
    if (done === undefined) return undefined;
    this.#loops.forget();
    return this.#options.system();
  }

  #room(system: string): Omit<CompactionOptions, "reason"> {
    const { conversation, model, sink, signal, budget } = this.#options;
    const contextTokens = this.#options.contextTokens || model.maxContextTokens;
    return { conversation, model, sink, signal, budget, contextTokens, overhead: this.#overhead(system) };
  }

  #overhead(system: string): number {
    return estimateText(system) + this.#toolTokens;
  }

  async #runCalls({ calls, made }: ModelAnswer): Promise<TurnEnd | undefined> {
    const { sink, tools, signal, turnId, maxIterations } = this.#options;
    this.#calls += made;
    const most = maxIterations * callsPerIteration;
    if (this.#calls > most) {
      return failed(
        "tool_call_limit",
        `The turn reached its limit of ${most} tool calls; the last ones did not run.`,
        "Ask it to continue, or raise max_iterations: ten times as many tool calls are permitted.",
        true,
      );
    }
    // The gate writes to the log itself, and a result comes behind its call.
    await sink.settle();
    const results = await tools.run(calls, { turnId, signal });
    signal.throwIfAborted();
    const repeated = this.#refusals.count(results);
    if (repeated !== undefined) {
      return failed(
        "repeated_refusal",
        `The model made the same refused ${repeated.name} call ${maxRepeatedRefusals} times in a row, so the turn ended.`,
        "Tell the model what to do instead, or change the rule that refuses it.",
        false,
      );
    }
    const found = this.#loops.observe(results);
    if (found.type === "warn") sink.emit({ type: "call-note", toolCallId: found.callId, text: found.text });
    if (found.type !== "loop") return undefined;
    return failed(
      "loop_detected",
      `The turn went round in circles: the model made the same ${found.name} call ${found.times} times with the same result, although it was warned.`,
      "Say more precisely what to do, or what to do differently.",
      false,
    );
  }
}

function failed(code: string, message: string, hint: string, retryable: boolean): TurnEnd {
  return { type: "failed", code, message, hint, retryable };
}

function stillTooLong(cause: ModelError): ModelError {
  return new ModelError("context_overflow", `It cannot be made short enough: ${cause.message}`, {
    hint: "What was said last is too long by itself: ask for less at once, clear the session, or use a model with a larger context.",
    cause,
  });
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
