import { adviceForPeople } from "@gennai/protocol/errors/advice-for-people";
import { z } from "zod";

export interface ToolRequest {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** One answer of the assistant that calls tools. */
export interface ToolRound {
  readonly thought: string;
  readonly calls: readonly ToolRequest[];
}

/** What came back for one call. */
export interface ToolReply {
  readonly output: string;
  readonly failure: ReplyFailure | undefined;
}

export interface ReplyFailure {
  /** Empty when the tool ran and failed, without a code. */
  readonly code: string;
  readonly message: string;
  /** For the model. */
  readonly hint?: string | undefined;
  /** For the user, instead of the text for the code. */
  readonly advice?: string;
}

/**
 * Work that needs tools: it yields rounds of calls and is handed their replies, in the same order. Nothing else may
 * influence it, so that it can be played again from the conversation.
 */
export type Work<Result> = Generator<ToolRound, Result, readonly ToolReply[]>;

export const noReply: ToolReply = {
  output: "",
  failure: { code: "no_result", message: "The call has no result." },
};

/** Calls one tool. */
export function* callTool(thought: string, name: string, args: ToolRequest["args"]): Work<ToolReply> {
  const [reply] = yield { thought, calls: [{ name, args }] };
  return reply ?? noReply;
}

const callsOfRound = 10;

/** Calls many, some at a time. */
export function* callTools(thought: string, calls: readonly ToolRequest[]): Work<readonly ToolReply[]> {
  const replies: ToolReply[] = [];
  for (let at = 0; at < calls.length; at += callsOfRound)
    replies.push(...(yield { thought, calls: calls.slice(at, at + callsOfRound) }));
  return replies;
}

const errorSchema = z.object({
  error: z.object({ code: z.string(), message: z.string(), hint: z.string().optional() }),
});

export function toolReply(output: string, isError: boolean): ToolReply {
  if (!isError) return { output, failure: undefined };
  try {
    return { output, failure: errorSchema.parse(JSON.parse(output)).error };
  } catch {
    // A tool that ran and failed says so in its own words.
    return { output, failure: { code: "", message: output.trim().split("\n", 1).join() || "The tool failed." } };
  }
}

/** `message (code)` and what the user can do, as one line. */
export function describeFailure(failure: ReplyFailure): string {
  const code = failure.code === "" ? "" : ` (${failure.code})`;
  const advice = failure.advice ?? adviceForPeople(failure);
  return `${failure.message}${code}${advice === undefined ? "" : ` ${advice}`}`.replaceAll(/\s+/g, " ");
}
