import type { CallOutcome, GateJournal } from "../gate/gate-journal.ts";
import { hookRemark } from "./hook-answer.ts";
import { type HookCommand, matchesTool } from "./hook-config.ts";
import type { HookRunner } from "./hooks-policy.ts";

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

  const tell = async (result: CallOutcome, turnId: string): Promise<void> => {
    const due = after.filter(({ matcher }) => matchesTool(matcher, result.call.name));
    if (due.length === 0 || options.signal.aborted) return;
    const input = {
      session_id: options.sessionId,
      cwd: options.cwd,
      hook_event_name: "PostToolUse" as const,
      tool_name: result.call.name,
      tool_input: JSON.parse(result.call.argumentsJson || "{}") as unknown,
      tool_use_id: result.call.id,
      tool_response: {
        output: result.output,
        error: result.error?.message ?? null,
        exit_code: result.outcome?.exitCode ?? null,
        truncated: result.truncated,
      },
    };
    await Promise.all(
      due.map(async (hook) => {
        const remark = hookRemark(hook, await options.runner.run(hook, input, { signal: options.signal }));
        if (remark !== undefined) journal.warn(remark, turnId);
      }),
    );
  };

  return {
    decided: (decision, turnId) => journal.decided(decision, turnId),
    begin: (decisions, turnId) => journal.begin(decisions, turnId),
    output: (callId, turnId, text) => journal.output(callId, turnId, text),
    warn: (text, turnId) => journal.warn(text, turnId),
    async end(outcomes, turnId) {
      await journal.end(outcomes, turnId);
      for (const { result } of outcomes) {
        if (result.outcome === undefined) continue;
        await tell(result, turnId).catch((error: unknown) => {
          // The turn was stopped meanwhile: nobody waits for what they say any more.
          if (options.signal.aborted) return;
          journal.warn(`A hook failed: ${error instanceof Error ? error.message : String(error)}`, turnId);
        });
      }
    },
  };
}
