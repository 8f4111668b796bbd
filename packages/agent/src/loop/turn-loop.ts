import type { CallResult, GovernedTools } from "@gennai/governance/gate/gate";
import type { ToolCall } from "@gennai/governance/gate-journal";
import type { Conversation } from "../conversation/conversation.ts";
import type { TurnBudget } from "../events/turn-budget.ts";
import { type Model, ModelError, type ModelRequest, type ToolDefinition } from "../model.ts";
import type { Instructions } from "../prompt/instructions.ts";
import { addUsage, type Cost, noUsage, type Usage, type UsageSum } from "../usage.ts";
import { askModel, type ModelAnswer } from "./ask-model.ts";
import { ContextRoom } from "./context-room.ts";
import { LoopDetector } from "./loop-detector.ts";
import { toolDefinitions } from "./tool-definitions.ts";
import type { TurnSink } from "./turn-sink.ts";
import { UnfinishedAnswers } from "./unfinished-answer.ts";

export interface TurnOptions {
  readonly turnId: string;
  readonly model: Model;
  readonly tools: GovernedTools;
  readonly conversation: Conversation;
  /** Called before each model call: todos and rules may have changed. */
  readonly instructions: () => Promise<Instructions>;
  /** How the model is asked, each time alike. */
  readonly request: Omit<ModelRequest, "system" | "messages" | "tools">;
  /** Model calls this turn may take. */
  readonly maxIterations: number;
  /** Tokens of the model's context, if the caller knows better than the model; 0: unknown. */
  readonly contextTokens?: number;
  /** What the turn may use; absent: no limit. */
  readonly budget?: TurnBudget;
  /** Ids of this turn's calls, if several loops share one turn. */
  readonly callIds?: Set<string>;
  /** Calls of the conversation without a result, to be run before the model is asked. */
  readonly openCalls?: readonly ToolCall[];
  /** The turn is these calls alone: the model is not asked. */
  readonly callsOnly?: boolean;
  /** Total use of the session so far, logged at the end of the turn. */
  readonly sessionUsage?: () => UsageSum;
  /** Runs before each model call; events that it writes to the log belong to that call. */
  readonly beforeModelCall?: () => Promise<void>;
  /**
   * True if the user sent a message that the model has not seen: a turn that would be complete then continues. After
   * false, the turn takes no more messages.
   */
  readonly saidMeanwhile?: () => boolean;
  /** Asked when the model has answered: undefined lets the turn end, a `TurnEnd` replaces its end. */
  readonly mayEnd?: (text: string) => Promise<TurnEnd | "again" | undefined>;
  /** Asked before the conversation is compacted. */
  readonly mayCompact?: () => Promise<boolean>;
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
  #definitions: { readonly wanted: number; readonly told: readonly ToolDefinition[] } | undefined;
  readonly #room: ContextRoom;
  readonly #refusals = new RepeatedRefusals();
  readonly #loops = new LoopDetector();
  readonly #unfinished: UnfinishedAnswers;
  #used: UsageSum = noUsage;
  #calls = 0;

  constructor(options: TurnOptions) {
    this.#options = options;
    this.#room = new ContextRoom({
      ...options,
      definitions: () => this.#told(),
      compacted: () => this.#loops.forget(),
    });
    this.#unfinished = new UnfinishedAnswers([...options.tools.tools].map(({ name }) => name));
  }

  /** The same array until the model has asked for more tools. */
  #told(): readonly ToolDefinition[] {
    const { tools, model, conversation } = this.#options;
    const { wantedTools } = conversation;
    if (this.#definitions?.wanted !== wantedTools.size) {
      this.#definitions = { wanted: wantedTools.size, told: toolDefinitions(tools, model.id, wantedTools) };
    }
    return this.#definitions.told;
  }

  async run(): Promise<TurnEnd> {
    const { sink, signal, maxIterations, openCalls = [] } = this.#options;
    if (openCalls.length > 0) {
      const end = await this.#runCalls({ calls: openCalls, made: openCalls.length, finish: "tool-calls" });
      if (end !== undefined) return end;
    }
    if (this.#options.callsOnly === true) return { type: "completed" };
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
    const { sink, maxIterations, saidMeanwhile, mayEnd } = this.#options;
    const found = this.#unfinished.judge(answer);
    switch (found.type) {
      case "answered": {
        // Behind the answer.
        await sink.flush();
        const end = await mayEnd?.(found.text);
        if (end !== undefined) {
          this.#unfinished.progress();
          return end === "again" ? undefined : end;
        }
        if (iteration < maxIterations && saidMeanwhile?.() === true) {
          this.#unfinished.progress();
          return undefined;
        }
        return this.#final({ text: found.text, thinking: answer.thinking });
      }
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
    let system = await this.#room.prepare();
    for (;;) {
      const { budget, request } = this.#options;
      const inputTokens = this.#room.tokens(system);
      const place = budget?.reserve(inputTokens, request.maxOutputTokens);
      if (place?.type === "exceeded") return failed("budget_exceeded", place.message, place.hint, false);
      // Written while the request is being sent; nothing that it folds in reaches this request.
      sink.emit({ type: "status", state: "thinking", iteration });
      try {
        return await askModel(this.#options, {
          system,
          definitions: this.#told(),
          iteration,
          inputTokens,
          maxOutputTokens: place?.maxOutputTokens ?? request.maxOutputTokens,
          used: (usage) => this.#book(usage, place?.used(usage)),
          mustCount: budget?.isLimited ?? false,
        });
      } catch (error) {
        if (!(error instanceof ModelError) || error.code !== "context_overflow") throw error;
        system = await this.#room.shorten(system, error);
      } finally {
        place?.release();
      }
    }
  }

  #book(usage: Usage, cost: Cost | undefined): Cost | undefined {
    this.#used = addUsage(this.#used, { ...usage, ...(cost === undefined ? {} : { cost }) });
    return cost;
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
      `The turn went round in circles: the model made the same ${found.name} call ${found.times} times with the same result.`,
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

/** How often in a row the same call may be refused before the turn ends. */
const maxRepeatedRefusals = 3;

/** Counts how often in a row the same call was refused. */
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
