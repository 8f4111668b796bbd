import type { FailureClass } from "@gennai/protocol/model/governance/tool-outcome";
import type { CallOutcome, ToolCall } from "../gate-journal.ts";
import type { CallContext, ShownImage, Tool, Verification } from "../tool.ts";
import type { ToolError } from "../tool-error.ts";
import type { DecidedCall } from "./decide/decided-call.ts";
import { textEditorCall } from "./decide/text-editor-call.ts";
import { toolNamed } from "./decide/usual-form.ts";
import type { GateOptions } from "./gate-options.ts";
import { decideCall, runCalls } from "./run-calls.ts";

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
  /** What it shows, if it did not fail. */
  readonly images: readonly ShownImage[];
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
  get tools(): Iterable<Pick<Tool, "name" | "description" | "parameters" | "inputSchema" | "shownTo" | "onRequest">> {
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
    this.#options.runner?.beginAnswer();
    const results: CallResult[] = [];
    const runsBesideOthers = (name: string): boolean => {
      const tool = toolNamed(this.#options.tools, name);
      return tool?.access === "read" && tool.alone !== true;
    };
    for (const batch of batches(calls, runsBesideOthers)) {
      results.push(...(await runCalls(batch, context, this.#options)).map(resultOf));
    }
    return results;
  }
}

function resultOf(ended: CallOutcome): CallResult {
  const { call, output, error, outcome, failureClass, verification } = ended;
  return {
    call,
    output,
    error,
    refused: outcome === undefined,
    failureClass,
    exitCode: outcome?.exitCode,
    verification,
    images: error === undefined ? (outcome?.images ?? []) : [],
    dropped: outcome?.dropped ?? [],
  };
}

/** Consecutive calls of read-only tools form a batch; every other call is its own batch. */
function* batches(calls: readonly ToolCall[], isRead: (name: string) => boolean): Iterable<readonly ToolCall[]> {
  let reads: ToolCall[] = [];
  for (const call of calls) {
    if (isRead(call.name)) {
      reads.push(call);
      continue;
    }
    if (reads.length > 0) yield reads;
    reads = [];
    yield [call];
  }
  if (reads.length > 0) yield reads;
}
