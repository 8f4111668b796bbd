import type { Model, ModelEvent, ModelRequest } from "@gennai/agent/model";
import type { ModelSettings } from "@gennai/models/model-registry";
import type { Attributes } from "@opentelemetry/api";
import { errorCode } from "./signals/error-code.ts";
import { errorType, finishReasons, genAi, modelNameOf, providerOf } from "./signals/gen-ai.ts";
import type { Instruments } from "./signals/instruments.ts";
import type { Names } from "./signals/names.ts";
import type { Scopes } from "./signals/scopes.ts";
import { endSpan, type Tracing } from "./signals/tracing.ts";

export interface ModelWatch {
  readonly tracing: Tracing;
  readonly scopes: Scopes;
  readonly instruments: Instruments;
  readonly names: Names;
}

/** The same model; each answer is a `chat` span. Counts and reasons are recorded, texts are not. */
export function observedModel(model: Model, settings: ModelSettings, watch: ModelWatch): Model {
  return {
    id: model.id,
    capabilities: model.capabilities,
    get maxContextTokens() {
      return model.maxContextTokens;
    },
    findContextTokens: async (options) => model.findContextTokens?.(options),
    stream: (request, options) => watched(model.stream(request, options), request, settings, watch),
  };
}

async function* watched(
  events: AsyncIterable<ModelEvent>,
  request: ModelRequest,
  settings: ModelSettings,
  { tracing, scopes, instruments, names }: ModelWatch,
): AsyncGenerator<ModelEvent, void> {
  const name = await names.of(modelNameOf(settings));
  const facts: Attributes = {
    [genAi.operation]: "chat",
    [genAi.provider]: providerOf(settings),
    [genAi.requestModel]: name,
  };
  const span = tracing.start({
    name: `chat ${name}`,
    kind: "client",
    attributes: {
      ...facts,
      [genAi.stream]: true,
      ...(request.maxOutputTokens > 0 ? { [genAi.maxTokens]: request.maxOutputTokens } : {}),
    },
  });
  const began = performance.now();
  const { agents = [] } = scopes.current;
  const seen: Attributes = {};
  const used = { inputTokens: 0, outputTokens: 0, cacheRead: 0, cacheWrite: 0 };
  let counted = false;
  let first = true;
  let finished = false;
  let error: string | undefined;
  try {
    for await (const event of events) {
      if (first) {
        const seconds = (performance.now() - began) / 1000;
        instruments.timeToFirstChunk.record(seconds, facts);
        seen[genAi.timeToFirstChunk] = seconds;
      }
      first = false;
      if (event.type === "usage") {
        counted = true;
        used.inputTokens += event.inputTokens;
        used.outputTokens += event.outputTokens;
        used.cacheRead += event.cachedInputTokens ?? 0;
        used.cacheWrite += event.cacheWriteTokens ?? 0;
        seen[genAi.inputTokens] = used.inputTokens;
        seen[genAi.outputTokens] = used.outputTokens;
        if (event.cachedInputTokens !== undefined) seen[genAi.cacheReadTokens] = used.cacheRead;
        if (event.cacheWriteTokens !== undefined) seen[genAi.cacheWriteTokens] = used.cacheWrite;
        for (const agent of agents) {
          agent.inputTokens += event.inputTokens;
          agent.outputTokens += event.outputTokens;
        }
      }
      if (event.type === "finish") {
        finished = true;
        seen[genAi.finishReasons] = [finishReasons[event.reason]];
        if (event.responseModel !== undefined) seen[genAi.responseModel] = await names.of(event.responseModel);
      }
      yield event;
    }
  } catch (thrown) {
    error = errorCode(thrown);
    throw thrown;
  } finally {
    // Anyone who reads may also leave before the end: the turn was stopped.
    if (!finished) error ??= "cancelled";
    endSpan(span, seen, error);
    // Providers do not say which tokens were of text and which of pictures.
    const ofTokens = { ...facts, [genAi.tokenModality]: "unknown" };
    instruments.inputTokens.add(used.inputTokens, ofTokens);
    instruments.outputTokens.add(used.outputTokens, ofTokens);
    if (used.cacheRead > 0) instruments.cacheReadTokens.add(used.cacheRead, ofTokens);
    if (used.cacheWrite > 0) instruments.cacheWriteTokens.add(used.cacheWrite, ofTokens);
    if (counted && error === undefined) {
      instruments.inputTokensOfCall.record(used.inputTokens, facts);
      instruments.outputTokensOfCall.record(used.outputTokens, facts);
    }
    instruments.inferenceDuration.record((performance.now() - began) / 1000, {
      ...facts,
      ...(error === undefined ? {} : { [errorType]: error }),
    });
  }
}
