import type { Analysis, CallContext, ExecutionContext, Tool, ToolOutcome } from "../../tool.ts";

/**
 * What a turn does around its tools: the gate has it analyse and run each call. No tool is wrapped in another one, so that what
 * comes before and after all of them stands in one place, in order.
 */
export interface CallRunner {
  /** Called before the calls of a model's answer run. */
  beginAnswer(): void;
  analyse(tool: Tool, args: unknown, context: CallContext): Promise<Analysis>;
  execute(tool: Tool, args: unknown, analysis: Analysis, context: ExecutionContext): Promise<ToolOutcome>;
}

/** Nothing but the tools. */
export const toolsAlone: CallRunner = {
  beginAnswer: () => undefined,
  analyse: (tool, args, context) => tool.analyse(args, context),
  execute: (tool, args, analysis, context) => tool.execute(args, analysis, context),
};
