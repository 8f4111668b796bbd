import type { LanguageModelV4FinishReason } from "@ai-sdk/provider";
import type { FinishReason } from "@gennai/agent/model";

/** The stream ended without saying why (for one of the formats the library calls that an error), or says that it was cut. */
export function isCut({ unified, raw = "" }: LanguageModelV4FinishReason): boolean {
  return unified === "interrupted" || (unified === "error" && raw === "") || cutWords.has(raw);
}

/** Of DeepSeek, OpenRouter, Zhipu and vLLM, whose servers ran out of something or broke. */
const cutWords: ReadonlySet<string> = new Set(["insufficient_system_resource", "error", "network_error", "abort"]);

export function finishReasonOf({ unified, raw = "" }: LanguageModelV4FinishReason): FinishReason {
  return rawReasons[raw] ?? finishReasons[unified] ?? "other";
}

/** What the libraries do not tell apart. */
const rawReasons: Readonly<Partial<Record<string, FinishReason>>> = {
  // The library takes it for an end: https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
  pause_turn: "pause",
  // https://ai.google.dev/api/generate-content#FinishReason
  UNEXPECTED_TOOL_CALL: "malformed",
  TOO_MANY_TOOL_CALLS: "malformed",
  MALFORMED_RESPONSE: "malformed",
  LANGUAGE: "content-filter",
  // https://docs.z.ai/api-reference/llm/chat-completion
  sensitive: "content-filter",
  model_context_window_exceeded: "length",
};

const finishReasons: Readonly<Partial<Record<string, FinishReason>>> = {
  stop: "stop",
  length: "length",
  "content-filter": "content-filter",
  "tool-calls": "tool-calls",
  // Gemini's MALFORMED_FUNCTION_CALL.
  error: "malformed",
};
