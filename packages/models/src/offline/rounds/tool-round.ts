import type { ToolReply } from "./tool-replies.ts";

export interface ToolRequest {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** One answer of the assistant that calls tools. */
export interface ToolRound {
  readonly thought: string;
  readonly calls: readonly ToolRequest[];
}

/**
 * Work that needs tools: it yields rounds of calls and is handed their replies, in the same order. Nothing else may
 * influence it, so that it can be played again from the conversation.
 */
export type Work<Result> = Generator<ToolRound, Result, readonly ToolReply[]>;

/** What happened to one step. */
export interface StepReport {
  /** False stops what was joined by `then`. */
  readonly ok: boolean;
  /** Empty when there is nothing to say yet. */
  readonly text: string;
}

/** Calls one tool. */
export function* callTool(thought: string, name: string, args: Readonly<Record<string, unknown>>): Work<ToolReply> {
  const [reply] = yield { thought, calls: [{ name, args }] };
  return reply ?? noReply;
}

export const noReply: ToolReply = {
  output: "",
  failure: { code: "no_result", message: "The call has no result.", hint: undefined, outdated: false },
};
