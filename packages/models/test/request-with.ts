import type { ModelRequest } from "@gennai/agent/model";

/** A request with a greeting, and nothing more. */
export function requestWith(more: Partial<ModelRequest> = {}): ModelRequest {
  const messages = [{ role: "user", text: "hi" }] as const;
  return { system: "", messages, tools: [], enableThinking: false, maxOutputTokens: 0, ...more };
}
