import type { Model, ModelEvent, ModelRequest } from "@gennai/agent/model";
import type { ModelSettings } from "@gennai/models/model-registry";
import type { Attributes } from "@opentelemetry/api";
import { errorCode } from "../signals/error-code.ts";
import { errorType, finishReasons, genAi, modelNameOf, providerOf } from "../signals/gen-ai.ts";
import type { Instruments } from "../signals/instruments.ts";
import type { Names } from "../signals/names.ts";
import type { Scopes } from "../signals/scopes.ts";
import { endSpan, type Tracing } from "../signals/tracing.ts";

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
    attributes: { ...facts, ...(request.maxOutputTokens > 0 ? { [genAi.maxTokens]: request.maxOutputTokens } : {}) },
  });
  const began = performance.now();
  const { agents = [] } = scopes.current;
  const seen: Attributes = {};
  const used = { inputTokens: 0, outputTokens: 0 };
  let first = true;
  let finished = false;
  let error: string | undefined;
  try {
    for await (const event of events) {
      if (first) instruments.timeToFirstChunk.record((performance.now() - began) / 1000, facts);
      first = false;
      if (event.type === "usage") {
        used.inputTokens += event.inputTokens;
        used.outputTokens += event.outputTokens;
        seen[genAi.inputTokens] = used.inputTokens;
        seen[genAi.outputTokens] = used.outputTokens;
        if (event.cachedInputTokens !== undefined) seen[genAi.cachedTokens] = event.cachedInputTokens;
        instruments.tokenUsage.record(event.inputTokens, { ...facts, [genAi.tokenType]: "input" });
        instruments.tokenUsage.record(event.outputTokens, { ...facts, [genAi.tokenType]: "output" });
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
    instruments.operationDuration.record((performance.now() - began) / 1000, {
      ...facts,
      ...(error === undefined ? {} : { [errorType]: error }),
    });
  }
}
