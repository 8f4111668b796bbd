import type { CallResult, GovernedTools } from "@gennai/governance/gate/gate";
import type { ToolCall } from "@gennai/governance/gate/gate-journal";
import type { Effort } from "@gennai/protocol/model/session/effort";
import * as z from "zod";
import type { Conversation } from "../conversation.ts";
import { estimateText } from "../events/token-estimate.ts";
import type { TurnBudget } from "../events/turn-budget.ts";
import { addUsage, type Cost, noUsage, type Usage, type UsageSum } from "../events/usage.ts";
import { type Model, ModelError, type ToolDefinition } from "../model.ts";
import type { Instructions } from "../prompt/instructions.ts";
import { askModel, type ModelAnswer } from "./ask-model.ts";
import { type CompactionOptions, compact, helpsBeforehand, needsCompaction } from "./compact.ts";
import { LoopDetector } from "./loop-detector.ts";
import type { TurnSink } from "./turn-sink.ts";
import { UnfinishedAnswers } from "./unfinished-answer.ts";

export interface TurnOptions {
  readonly turnId: string;
  readonly model: Model;
  readonly tools: GovernedTools;
  readonly conversation: Conversation;
  /** Called before each model call: todos and rules may have changed. */
  readonly instructions: () => Promise<Instructions>;
  readonly enableThinking: boolean;
  /** How hard to think; absent: the provider's default. */
  readonly effort?: Effort;
  readonly maxOutputTokens: number;
  /** Model calls this turn may take. */
  readonly maxIterations: number;
  /** Tokens of the model's context, if the caller knows better than the model; 0: unknown. */
  readonly contextTokens?: number;
  /** The same for all turns of one conversation. */
  readonly cacheKey?: string;
  /** What the turn may use; absent: no limit. */
  readonly budget?: TurnBudget;
  /** Ids of this turn's calls, if several loops share one turn. */
  readonly callIds?: Set<string>;
  /** Calls of the conversation without a result, to be run before the model is asked. */
  readonly openCalls?: readonly ToolCall[];
  /** Total use of the session so far, logged at the end of the turn. */
  readonly sessionUsage?: () => UsageSum;
  /** Runs before each model call; events that it writes to the log belong to that call. */
  readonly beforeModelCall?: () => Promise<void>;
  /**
   * True if the user sent a message that the model has not seen: a turn that would be complete then continues. After
   * false, the turn takes no more messages.
   */
  readonly saidMeanwhile?: () => boolean;
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

/** How often in a row the same call may be refused before the turn ends. */
const maxRepeatedRefusals = 3;

/** A request up to this many tokens fits into any model. */
const smallRequest = 3_000;

/** Tool calls a turn may make, for each model call that it may take. */
const callsPerIteration = 10;

/**
 * Runs one turn: asks the model, runs its calls through the gate, returns the results to it, until it answers without a
 * call. The caller has logged the user's message; the end is returned, not logged.
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
  #measured = { system: "", tokens: 0 };
  readonly #refusals = new RepeatedRefusals();
  readonly #loops = new LoopDetector();
  readonly #unfinished: UnfinishedAnswers;
  #used: UsageSum = noUsage;
  #calls = 0;
  #overflowed = false;

  constructor(options: TurnOptions) {
    this.#options = options;
    this.#definitions = toolDefinitions(options.tools, options.model.id);
    this.#unfinished = new UnfinishedAnswers(this.#definitions.map(({ name }) => name));
    this.#toolTokens = estimateText(JSON.stringify(this.#definitions));
  }

  async run(): Promise<TurnEnd> {
    const { sink, signal, maxIterations, openCalls = [] } = this.#options;
    if (openCalls.length > 0) {
      const end = await this.#runCalls({ calls: openCalls, made: openCalls.length, finish: "tool-calls" });
      if (end !== undefined) return end;
    }
    for (let iteration = 1; iteration <= maxIterations; iteration++) {
      signal.throwIfAborted();
      await this.#options.beforeModelCall?.();
      await sink.flush();
      const answer = await this.#ask(iteration);
      if ("type" in answer) return answer;
      signal.throwIfAborted();
      const end = answer.made === 0 ? await this.#end(answer, iteration) : await this.#runCalls(answer);
      if (end !== undefined) return end;
    }
    return failed(
      "iteration_limit",
      `The turn reached its limit of ${maxIterations} model calls.`,
      "Ask it to continue, or raise max_iterations.",
      true,
    );
  }

  /** The turn's end after an answer without calls; undefined if the model must be asked again. */
  async #end(answer: ModelAnswer, iteration: number): Promise<TurnEnd | undefined> {
    const { sink, maxIterations, saidMeanwhile } = this.#options;
    const found = this.#unfinished.judge(answer);
    switch (found.type) {
      case "answered":
        if (iteration < maxIterations && saidMeanwhile?.() === true) {
          this.#unfinished.progress();
          return undefined;
        }
        return this.#final({ text: found.text, thinking: answer.thinking });
      case "failed":
        return failed(found.code, found.message, found.hint, found.code !== "answer_refused");
      case "again":
        if (answer.finish === "malformed") sink.emit({ type: "answer-dropped", reason: found.reason });
        else sink.emit({ type: "warning", text: found.reason });
        if (found.note !== undefined) sink.emit({ type: "model-note", text: found.note });
        return undefined;
    }
  }

  async #final({ text, thinking }: Pick<ModelAnswer, "text" | "thinking">): Promise<TurnEnd> {
    const { sink, model, sessionUsage, contextTokens } = this.#options;
    // After this, the session's sum includes this model call.
    await sink.flush();
    const { inputTokens, outputTokens, cachedInputTokens, cost } = this.#used;
    sink.emit({
      type: "final",
      text,
      thinking,
      inputTokens,
      outputTokens,
      modelId: model.id,
      maxContextTokens: contextTokens || model.maxContextTokens,
      ...(cachedInputTokens === 0 ? {} : { cachedInputTokens }),
      ...(cost === undefined ? {} : { cost }),
      ...(sessionUsage === undefined ? {} : { sessionUsage: sessionUsage() }),
    });
    return { type: "completed" };
  }

  /** Gets an answer, or the reason why there is none. Compacts the conversation first, if needed. */
  async #ask(iteration: number): Promise<ModelAnswer | TurnEnd> {
    const { sink } = this.#options;
    let system = await this.#instruct();
    await this.#findWindow(system);
    system = (await this.#makeRoom(system)) ?? system;
    for (;;) {
      const { conversation, budget } = this.#options;
      const inputTokens = conversation.tokens(this.#overhead(system));
      const place = budget?.reserve(inputTokens, this.#options.maxOutputTokens);
      if (place?.type === "exceeded") return failed("budget_exceeded", place.message, place.hint, false);
      // Written while the request is being sent; nothing that it folds in reaches this request.
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

  /** Compacts the conversation before the model call, if needed. Returns the new system prompt if anything was compacted. */
  async #makeRoom(system: string): Promise<string | undefined> {
    const room = this.#room(system);
    if (!needsCompaction(room)) return undefined;
    if (helpsBeforehand(room)) return this.#compact("limit", system);
    const { conversation, contextTokens, overhead, sink } = room;
    if (!warned.has(conversation)) {
      warned.add(conversation);
      sink.emit({ type: "warning", text: tooSmall(contextTokens, overhead) });
    }
    return undefined;
  }

  #book(usage: Usage, cost: Cost | undefined): Cost | undefined {
    this.#used = addUsage(this.#used, { ...usage, ...(cost === undefined ? {} : { cost }) });
    return cost;
  }

  /**
   * Compacts the conversation. Returns the new system prompt, which is not part of what is compacted; undefined if
   * nothing could be compacted.
   */
  async #compact(reason: "limit" | "overflow", system: string): Promise<string | undefined> {
    const done = await compact({ ...this.#room(system), reason });
    if (done === undefined) return undefined;
    this.#loops.forget();
    return this.#instruct();
  }

  /**
   * Adds to the log which instructions changed since the last model call. Returns the system prompt, which changes only
   * at a compaction.
   */
  async #instruct(): Promise<string> {
    const { conversation, instructions, sink } = this.#options;
    const changed = conversation.changedInstructions(await instructions());
    if (changed !== undefined) {
      sink.emit(changed);
      await sink.flush();
    }
    return conversation.system;
  }

  /** Looks up the model's context size, where the request may not fit into any: Ollama gives a model no more than 4,096 tokens by default. */
  async #findWindow(system: string): Promise<void> {
    const { conversation, model, signal, contextTokens = 0 } = this.#options;
    if (contextTokens > 0 || model.maxContextTokens > 0) return;
    if (conversation.tokens(this.#overhead(system)) > smallRequest) await model.findContextTokens?.({ signal });
  }

  #room(system: string): Omit<CompactionOptions, "reason"> {
    const { conversation, model, sink, signal, budget } = this.#options;
    const { maxOutputTokens } = this.#options;
    const contextTokens = this.#options.contextTokens || model.maxContextTokens;
    const overhead = this.#overhead(system);
    return { conversation, model, sink, signal, budget, contextTokens, maxOutputTokens, overhead };
  }

  #overhead(system: string): number {
    // Cached: the prompt is mostly the same, and is measured twice for each request.
    if (system !== this.#measured.system) this.#measured = { system, tokens: estimateText(system) };
    return this.#measured.tokens + this.#toolTokens;
  }

  async #runCalls({
    calls,
    made,
    finish,
  }: Pick<ModelAnswer, "calls" | "made" | "finish">): Promise<TurnEnd | undefined> {
    const { sink, tools, signal, turnId, maxIterations } = this.#options;
    this.#unfinished.progress();
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
    const last = calls.at(-1);
    // Added before the call runs, so that a turn that continues after a break has the note too.
    if (finish === "length" && last !== undefined) sink.emit({ type: "call-note", toolCallId: last.id, text: cutCall });
    // The gate writes to the log itself, and a call must be logged before its result.
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

const cutCall =
  "Your answer was cut off at the output limit with this call: it may be half of what you meant. Write less at once.";

function failed(code: string, message: string, hint: string, retryable: boolean): TurnEnd {
  return { type: "failed", code, message, hint, retryable };
}

/** Conversations whose user was warned that the model's context is too small. */
const warned = new WeakSet<Conversation>();

function tooSmall(contextTokens: number, overhead: number): string {
  const [all, taken] = [contextTokens, overhead].map((tokens) => tokens.toLocaleString("en"));
  return `The model's context is small: ${all} tokens, of which instructions and tools take about ${taken}. Give it more (Ollama: OLLAMA_CONTEXT_LENGTH=64000), or use another.`;
}

function stillTooLong(cause: ModelError): ModelError {
  return new ModelError("context_overflow", `It cannot be made short enough: ${cause.message}`, {
    hint: "What was said last is too long by itself: ask for less at once, clear the session, or use a model with a larger context.",
    cause,
  });
}

function toolDefinitions(tools: GovernedTools, modelId: string): readonly ToolDefinition[] {
  const shown = [...tools.tools].filter(({ shownTo }) => shownTo?.test(modelId) ?? true);
  return shown.map(({ name, description, parameters, inputSchema }) => ({
    name,
    description,
    inputSchema: inputSchema ?? jsonSchemaOf(parameters),
  }));
}

/** Tools are created for every turn; their schemas are cached here. */
const jsonSchemas = new WeakMap<z.ZodType, ToolDefinition["inputSchema"]>();

function jsonSchemaOf(parameters: z.ZodType): ToolDefinition["inputSchema"] {
  const known = jsonSchemas.get(parameters);
  if (known !== undefined) return known;
  // Models know the JSON Schema dialect; `$schema` would be sent with every tool of every request.
  const { $schema: _, ...schema } = z.toJSONSchema(parameters, { io: "input" });
  jsonSchemas.set(parameters, schema);
  return schema;
}

class RepeatedRefusals {
  #last = "";
  #times = 0;

  /** Returns the call that was refused too often, if any. */
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
