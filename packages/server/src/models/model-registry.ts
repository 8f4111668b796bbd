import { type Model, ModelError } from "@gennai/agent/model";
import type { SessionSettings } from "@gennai/agent/session-settings";
import { type AskEditor, EditorModel } from "./editor-model.ts";
import { type KeySource, resolveEndpoint } from "./model-endpoint.ts";

export type ModelSettings = Pick<SessionSettings, "backend" | "model" | "baseUrl">;

/**
 * The model that settings ask for; its code is loaded only now. Makes no request. Throws `ModelError` (`not_configured`) when
 * something is missing, with a hint that says what to set.
 */
export async function createModel(
  settings: ModelSettings,
  keys: KeySource,
  options: { readonly askEditor?: AskEditor } = {},
): Promise<Model> {
  const { backend } = settings;
  switch (backend) {
    case "offline": {
      const { OfflineModel } = await import("./offline/offline-model.ts");
      return new OfflineModel();
    }
    case "scripted": {
      const { loadScriptedModel } = await import("./scripted.ts");
      return loadScriptedModel(settings.model);
    }
    case "openai-compatible":
    case "ollama": {
      const endpoint = await resolveEndpoint(backend, settings, keys);
      const { createOpenAICompatibleModel } = await import("./openai-compatible.ts");
      return createOpenAICompatibleModel(backend, endpoint);
    }
    case "openai": {
      const endpoint = await resolveEndpoint(backend, settings, keys);
      const { createOpenAIModel } = await import("./openai.ts");
      return createOpenAIModel(endpoint);
    }
    case "anthropic": {
      const endpoint = await resolveEndpoint(backend, settings, keys);
      const { createAnthropicModel } = await import("./anthropic.ts");
      return createAnthropicModel(endpoint);
    }
    case "gemini": {
      const endpoint = await resolveEndpoint(backend, settings, keys);
      const { createGeminiModel } = await import("./gemini.ts");
      return createGeminiModel(endpoint);
    }
    case "editor":
      return new EditorModel(settings.model, options.askEditor);
    default:
      return unknownBackend(backend);
  }
}

function unknownBackend(backend: never): never {
  throw new ModelError("not_configured", `Unknown backend ${JSON.stringify(backend)}.`, {
    hint: "Available are offline, scripted, openai-compatible, openai, ollama, anthropic, gemini, editor.",
  });
}
