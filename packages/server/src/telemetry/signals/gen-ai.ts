import type { ModelEvent } from "@gennai/agent/model";
import type { ModelSettings } from "@gennai/models/model-registry";
import { isProvider, providers } from "@gennai/models/providers";

/**
 * Names of the OpenTelemetry GenAI semantic conventions, version 0.1.0. They are still in development, so they are defined here
 * and not imported: a newer package must not rename what dashboards query.
 */
export const genAi = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  agentName: "gen_ai.agent.name",
  conversation: "gen_ai.conversation.id",
  requestModel: "gen_ai.request.model",
  maxTokens: "gen_ai.request.max_tokens",
  stream: "gen_ai.request.stream",
  responseModel: "gen_ai.response.model",
  finishReasons: "gen_ai.response.finish_reasons",
  timeToFirstChunk: "gen_ai.response.time_to_first_chunk",
  inputTokens: "gen_ai.usage.input_tokens",
  cacheReadTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheWriteTokens: "gen_ai.usage.cache_write.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  tokenModality: "gen_ai.token.modality",
  toolName: "gen_ai.tool.name",
} as const;

export const errorType = "error.type";

export function providerOf({ backend }: ModelSettings): string {
  return isProvider(backend) ? providers[backend].telemetryName : `gennai.${backend}`;
}

/** As the session names it. The scripted model's name is a path, and the offline one has none. */
export function modelNameOf({ backend, model }: ModelSettings): string {
  return backend === "scripted" || backend === "offline" || model === "" ? backend : model;
}

type FinishReason = Extract<ModelEvent, { readonly type: "finish" }>["reason"];

export const finishReasons: Readonly<Record<FinishReason, string>> = {
  stop: "stop",
  "tool-calls": "tool_call",
  length: "length",
  "content-filter": "content_filter",
  pause: "pause",
  malformed: "error",
  other: "other",
};
