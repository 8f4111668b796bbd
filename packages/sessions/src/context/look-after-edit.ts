import type { Tool, ToolOutcome } from "@gennai/governance/tool";

/** A call that has changed files, before its result is told. */
export interface EditingCall {
  readonly callId: string;
  /** Relative to the workspace; at least one. */
  readonly paths: readonly string[];
  /** A sub-agent's: the session's own model does not read this result. */
  readonly bySubAgent: boolean;
  readonly signal: AbortSignal;
  /** Makes durable what the call changed: for who looks long, and the server may end meanwhile. */
  record(): Promise<void>;
}

/** Asked with each call that changed files for what is new in them. Nobody looks until the turn has begun. */
export interface LookAfterEdit {
  /** What to say in the call's result; undefined: nothing. Rejects only when it cannot be recorded. */
  look?: (call: EditingCall) => Promise<string | undefined>;
}

/** More files than this are looked at once the round is over. */
const mostFiles = 50;

/**
 * The same tool, whose results also say what is new in the files that a call changed.
 * @param record makes it durable what a call changed
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
