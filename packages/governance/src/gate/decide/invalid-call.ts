import type { ToolCall } from "../../gate-journal.ts";
import type { Redactor } from "../../redaction.ts";
import type { Tool } from "../../tool.ts";
import type { DecidedCall, Refusal } from "./decided-call.ts";
import { redactedError } from "./redacted-reason.ts";

/** @param refusal.argumentsJson where they could be read; by default as the model wrote them */
export async function invalidCall(
  call: ToolCall,
  refusal: Refusal & { readonly argumentsJson?: string },
  redactor: Redactor,
): Promise<DecidedCall> {
  const { error, failureClass, argumentsJson = call.argumentsJson.slice(0, 4096) } = refusal;
  const input = await redactor.redact(argumentsJson);
  return { type: "invalid", call, error: await redactedError(error, redactor), failureClass, effects: [], input };
}

/** Tools that are there once the user wants them, and what the user does for it. */
const wanted: ReadonlyMap<string, string> = new Map([
  ["WebFetch", "Pages are read once the user lists their hosts in web.json of Gennai's configuration directory. "],
  [
    "WebSearch",
    "There is a search once the user sets BRAVE_API_KEY, EXA_API_KEY or TAVILY_API_KEY, or names a provider in web.json. ",
  ],
]);

export function unknownTool({ name }: ToolCall, tools: ReadonlyMap<string, Tool>): Refusal {
  const error = {
    code: "unknown_tool",
    message: `There is no tool named ${JSON.stringify(name.slice(0, 100))} here.`,
    rule: "gate/registry",
    hint: `${wanted.get(name) ?? ""}Tools: ${[...tools.keys()].join(", ") || "none"}.`,
    retryable: false,
  } as const;
  return { error, failureClass: "tool_unavailable" };
}

/** The tool is there: it was called wrongly. */
export function badArguments({ name }: Tool, problem: string): Refusal {
  const error = {
    code: "bad_arguments",
    message: problem,
    rule: "gate/schema",
    hint: `Call ${name} again with arguments that fit its schema.`,
    retryable: true,
  } as const;
  return { error, failureClass: "command_error" };
}
