import { errorMessage } from "@gennai/protocol/error-message";
import { coveringNames } from "../covering-names.ts";
import type { CallOutcome, Decision, GateJournal } from "../gate/gate-journal.ts";
import { hookRemark } from "./hook-answer.ts";
import { type HookCommand, matchesTool } from "./hook-config.ts";
import { hookInputs } from "./hook-inputs.ts";
import type { HookRunner } from "./hooks-policy.ts";

/** Milliseconds for all files of a call together; more only if a program may take longer for one file. */
const wholeCallMs = 60_000;

/**
 * The gate's journal, which tells users' `PostToolUse` programs of every call that ran, after its outcome is recorded.
 * They only look: what they say, and that they failed, becomes a warning.
 */
export function withPostToolHooks(
  journal: GateJournal,
  hooks: readonly HookCommand[],
  options: {
    readonly runner: HookRunner;
    readonly cwd: string;
    readonly sessionId: string;
    readonly signal: AbortSignal;
  },
): GateJournal {
  const after = hooks.filter(({ event }) => event === "PostToolUse");
  if (after.length === 0) return journal;

  const tell = async (result: CallOutcome, { effects }: Decision, turnId: string): Promise<void> => {
    const toolName = result.call.name;
    const due = after.filter(({ matcher }) => matchesTool(matcher, coveringNames(toolName, effects)));
    if (due.length === 0 || options.signal.aborted) return;
    const about = {
      session_id: options.sessionId,
      cwd: options.cwd,
      hook_event_name: "PostToolUse" as const,
      tool_name: toolName,
      tool_use_id: result.call.id,
      tool_response: {
        output: result.output,
        error: result.error?.message ?? null,
        exit_code: result.outcome?.exitCode ?? null,
        truncated: result.truncated,
      },
    };
    const inputs = hookInputs({ toolName, args: result.args, effects });
    const allMs = Math.max(wholeCallMs, ...due.map(({ timeoutMs }) => timeoutMs));
    const deadline = performance.now() + allMs;
    for (const [done, toolInput] of inputs.entries()) {
      const leftMs = Math.ceil(deadline - performance.now());
      if (leftMs <= 0) {
        const missed = `${inputs.length - done} of ${inputs.length} files that ${toolName} changed`;
        journal.warn(`Hooks were not run for ${missed}: they have ${allMs / 1000} s for all.`, turnId);
        return;
      }
      const input = Object.assign({ tool_input: toolInput }, about);
      await Promise.all(
        due.map(async (hook) => {
          const bounded = { ...hook, timeoutMs: Math.min(hook.timeoutMs, leftMs) };
          const remark = hookRemark(
            hook,
            await options.runner.run(bounded, input, { signal: options.signal }),
            toolInput,
          );
          if (remark !== undefined) journal.warn(remark, turnId);
        }),
      );
    }
  };

  return {
    decided: (decision, turnId) => journal.decided(decision, turnId),
    begin: (decisions, turnId) => journal.begin(decisions, turnId),
    output: (callId, turnId, text) => journal.output(callId, turnId, text),
    warn: (text, turnId) => journal.warn(text, turnId),
    async end(outcomes, turnId) {
      await journal.end(outcomes, turnId);
      for (const { result, decision } of outcomes) {
        if (result.outcome === undefined) continue;
        await tell(result, decision, turnId).catch((error: unknown) => {
          // The turn was stopped: the remarks are no longer needed.
          if (options.signal.aborted) return;
          journal.warn(`A hook failed: ${errorMessage(error)}`, turnId);
        });
      }
    },
  };
}
