import type { FailureClass } from "@gennai/protocol/model/governance/tool-outcome";
import type { CallContext, Tool, Verification } from "../tool.ts";
import type { ToolError } from "../tool-error.ts";
import { batches } from "./batches.ts";
import { admitCall } from "./confirm/admit-call.ts";
import { finalDecision } from "./decide/admitted-call.ts";
import { type DecidedCall, decideCall } from "./decide/decide-call.ts";
import { unobservedGate } from "./decide/gate-observer.ts";
import { textEditorCall } from "./decide/text-editor-call.ts";
import { toolNamed } from "./decide/usual-form.ts";
import { executeCall } from "./execute-call.ts";
import type { ToolCall } from "./gate-journal.ts";
import type { GateOptions } from "./gate-options.ts";

/** The result of a call, for the model. */
export interface CallResult {
  readonly call: ToolCall;
  /** Redacted. JSON of a `ToolError` when the call was refused or failed without output. */
  readonly output: string;
  readonly error: ToolError | undefined;
  /** True when the call never ran. */
  readonly refused: boolean;
  readonly failureClass: FailureClass | undefined;
  readonly exitCode: number | undefined;
  readonly verification: Verification;
  readonly facts: readonly unknown[];
  /** Names of changes that the user chose not to keep. */
  readonly dropped: readonly string[];
}

/** Tools that run only through the gate. There is no other way to make one, and the turn loop accepts nothing else. */
export type GovernedTools = GovernedToolSet;

/** Puts tools behind the gate. */
export function governTools(options: GateOptions): GovernedTools {
  return new GovernedToolSet(options);
}

class GovernedToolSet {
  readonly #options: GateOptions;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** For the model's tool list. */
  get tools(): Iterable<Pick<Tool, "name" | "description" | "parameters" | "inputSchema" | "shownTo">> {
    return this.#options.tools.values();
  }

  /** True for a call that may be repeated if it is unknown whether it ran. */
  isRepeatable(call: ToolCall): boolean {
    const tool = toolNamed(this.#options.tools, textEditorCall(call).name);
    return tool?.access === "read" || tool?.repeatable === true;
  }

  /** Stages 1 to 4 alone: what would be decided, with nothing asked, recorded or run. */
  decide(call: ToolCall, context: { readonly turnId: string; readonly signal: AbortSignal }): Promise<DecidedCall> {
    return decideCall(call, { ...context, callId: call.id }, this.#options);
  }

  /**
   * Runs the calls of one model answer and returns their results in the same order. Neighbouring reads run together,
   * everything else one by one. Rejects only when the records cannot be written: then nothing more has run.
   */
  async run(calls: readonly ToolCall[], context: Omit<CallContext, "callId">): Promise<readonly CallResult[]> {
    this.#options.beginAnswer?.();
    const results: CallResult[] = [];
    const runsBesideOthers = (name: string): boolean => {
      const tool = toolNamed(this.#options.tools, name);
      return tool?.access === "read" && tool.alone !== true;
    };
    for (const batch of batches(calls, runsBesideOthers)) {
      results.push(...(await this.#runBatch(batch, context)));
    }
    return results;
  }

  async #runBatch(calls: readonly ToolCall[], context: Omit<CallContext, "callId">): Promise<readonly CallResult[]> {
    const { journal, observer = unobservedGate } = this.#options;
    const passages = await Promise.all(
      calls.map((call) => admitCall(call, { ...context, callId: call.id }, this.#options)),
    );
    const admitted = passages.filter((admitted) => admitted.refusal === undefined);

    // 6 record: if this rejects, nothing runs.
    if (admitted.length > 0) {
      await journal.begin(
        admitted.map((admitted) => admitted.decision),
        context.turnId,
      );
    }

    // 7 execute, 8 verify
    const outcomes = await Promise.all(
      passages.map(async (admitted) => {
        const { decision } = admitted;
        const result = await observer.execute(decision, () =>
          executeCall(admitted, { ...context, callId: decision.call.id }, this.#options),
        );
        return { decision: finalDecision(admitted, result), result };
      }),
    );

    // 9 outcome
    await journal.end(outcomes, context.turnId);
    return outcomes.map(({ result }) => ({
      call: result.call,
      output: result.output,
      error: result.error,
      refused: result.outcome === undefined,
      failureClass: result.failureClass,
      exitCode: result.outcome?.exitCode,
      verification: result.verification,
      facts: result.outcome?.facts ?? [],
      dropped: result.outcome?.dropped ?? [],
    }));
  }
}
