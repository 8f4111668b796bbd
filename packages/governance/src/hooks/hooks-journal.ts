import { errorMessage } from "@gennai/protocol/error-message";
import { parsedJson } from "@gennai/protocol/json-value";
import { coveringNames } from "../covering-names.ts";
import type { CallOutcome, Decision, GateJournal } from "../gate-journal.ts";
import type { EventAnswer, HookedEvent } from "./event-hooks.ts";
import type { HookEvent } from "./hook-config.ts";
import { hookInputs } from "./hook-inputs.ts";

/** Milliseconds for all files of a call together; more only if a program may take longer for one file. */
const wholeCallMs = 60_000;

export interface CallHooks {
  /** The longest that a program of this event may take, milliseconds; 0: there is none. */
  longestMs(event: HookEvent): number;
  tell(event: HookedEvent, options: { readonly mostMs: number; readonly signal: AbortSignal }): Promise<EventAnswer>;
}

/**
 * The gate's journal, which tells users' programs of every call that ended, after its outcome is recorded. They only look: what
 * they say is added to the call for the model, and that they failed becomes a warning.
 */
export function withCallHooks(
  journal: GateJournal,
  hooks: CallHooks,
  options: {
    /** Adds a note to a call that ended. */
    note(callId: string, text: string, turnId: string): void;
    /** Stops the turn, without waiting for its end. */
    stop(reason: string, turnId: string): void;
    readonly signal: AbortSignal;
  },
): GateJournal {
  const { signal } = options;
  const tell = async (result: CallOutcome, { effects, reason }: Decision, turnId: string): Promise<void> => {
    const { call, outcome, error } = result;
    const event =
      outcome === undefined ? "PermissionDenied" : error === undefined ? "PostToolUse" : "PostToolUseFailure";
    const longestMs = hooks.longestMs(event);
    if (longestMs === 0 || signal.aborted) return;
    const about = {
      tool_name: call.name,
      tool_use_id: call.id,
      ...(event === "PermissionDenied" ? { reason: error?.message ?? reason } : {}),
      ...(event === "PostToolUseFailure" ? { error: error?.message ?? "", is_interrupt: false } : {}),
      ...(event === "PermissionDenied"
        ? {}
        : {
            tool_response: {
              output: result.output,
              error: error?.message ?? null,
              exit_code: outcome?.exitCode ?? null,
              truncated: result.truncated,
            },
          }),
    };
    const inputs = hookInputs({
      toolName: call.name,
      args: result.args ?? parsedJson(call.argumentsJson) ?? call.argumentsJson,
      effects,
    });
    const allMs = Math.max(wholeCallMs, longestMs);
    const deadline = performance.now() + allMs;
    for (const [done, toolInput] of inputs.entries()) {
      const mostMs = Math.ceil(deadline - performance.now());
      if (mostMs <= 0) {
        const missed = `${inputs.length - done} of ${inputs.length} files that ${call.name} changed`;
        journal.warn(`Hooks were not run for ${missed}: they have ${allMs / 1000} s for all.`, turnId);
        return;
      }
      const input = Object.assign({ tool_input: toolInput }, about);
      const names = coveringNames(call.name, effects);
      const { notes, messages, stop } = await hooks.tell({ event, names, input }, { mostMs, signal });
      for (const note of notes) options.note(call.id, note, turnId);
      for (const message of messages) journal.warn(message, turnId);
      if (stop !== undefined) options.stop(stop, turnId);
    }
  };

  return {
    decided: (decision, turnId) => journal.decided(decision, turnId),
    begin: (decisions, turnId) => journal.begin(decisions, turnId),
    reached: (decision, connections, turnId) => journal.reached(decision, connections, turnId),
    output: (callId, turnId, text) => journal.output(callId, turnId, text),
    warn: (text, turnId) => journal.warn(text, turnId),
    async end(outcomes, turnId) {
      await journal.end(outcomes, turnId);
      for (const { result, decision } of outcomes) {
        await tell(result, decision, turnId).catch((error: unknown) => {
          // The turn was stopped: the remarks are no longer needed.
          if (signal.aborted) return;
          journal.warn(`A hook failed: ${errorMessage(error)}`, turnId);
        });
      }
    },
  };
}
