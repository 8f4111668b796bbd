import type { Tool, ToolOutcome } from "@gennai/governance/tool";

/** A call that has changed files and whose result is not yet reported. */
export interface EditingCall {
  readonly callId: string;
  /** Relative to the workspace; at least one. */
  readonly paths: readonly string[];
  /** Made by a sub-agent: the session's own model does not read the result. */
  readonly bySubAgent: boolean;
  readonly signal: AbortSignal;
  /** Makes the changes durable before a long check, because the server may end in the meantime. */
  record(): Promise<void>;
}

/** Called after each call that changed files, for new problems in them. Not set before the turn begins. */
export interface LookAfterEdit {
  /** Text for the call's result; undefined: none. Rejects only if the change cannot be recorded. */
  look?: (call: EditingCall) => Promise<string | undefined>;
}

/** More changed files than this are checked after the round. */
const mostFiles = 50;

/**
 * The same tool; its results also report new problems in the files that a call changed.
 * @param record makes a call's changes durable
 */
export function withLookAfterEdit(
  tool: Tool,
  after: LookAfterEdit,
  {
    bySubAgent,
    record,
  }: {
    readonly bySubAgent: boolean;
    readonly record: (callId: string, outcome: ToolOutcome, turnId: string) => Promise<void>;
  },
): Tool {
  if (tool.access === "read") return tool;
  return {
    ...tool,
    async execute(args, analysis, context) {
      const outcome = await tool.execute(args, analysis, context);
      const paths = (outcome.changes ?? []).map(({ path }) => path);
      if (after.look === undefined || paths.length === 0 || paths.length > mostFiles) return outcome;
      const { callId, turnId, signal } = context;
      const recorded = () => record(callId, outcome, turnId);
      const found = await after.look({ callId, paths, bySubAgent, signal, record: recorded });
      return found === undefined ? outcome : { ...outcome, output: `${outcome.output.trimEnd()}\n\n${found}` };
    },
  };
}
