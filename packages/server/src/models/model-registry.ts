import { type Model, ModelError } from "@gennai/agent/model";
import type { Backend, SessionSettings } from "@gennai/agent/session-settings";

export type ModelSettings = Pick<SessionSettings, "backend" | "model" | "baseUrl">;

/** Environment variables; keys are read from here and nowhere else. */
export type Environment = Readonly<Record<string, string | undefined>>;

const availableBackends = [
  "offline",
  "scripted",
  "openai-compatible",
  "openai",
  "ollama",
] as const satisfies readonly Backend[];

/**
 * The model that settings ask for; its code is loaded only now. Makes no request. Throws `ModelError` (`not_configured`) when
 * something is missing, with a hint that says what to set.
 */
export async function createModel(settings: ModelSettings, env: Environment): Promise<Model> {
  switch (settings.backend) {
    case "offline": {
      const { OfflineModel } = await import("./offline/offline-model.ts");
      return new OfflineModel();
    }
    case "scripted": {
      const { loadScriptedModel } = await import("./scripted.ts");
      return loadScriptedModel(settings.model);
    }
    case "openai-compatible":
    case "openai":
    case "ollama": {
      const { createOpenAICompatibleModel } = await import("./openai-compatible.ts");
      return createOpenAICompatibleModel(settings.backend, settings, env);
    }
    case "anthropic":
    case "gemini":
    case "editor":
      throw new ModelError("not_configured", `The backend ${settings.backend} is not part of this release.`, {
        hint: `Available are ${availableBackends.join(", ")}. Many providers also speak the chat-completions protocol: use openai-compatible with their base URL.`,
      });
    default:
      return unknownBackend(settings.backend);
  }
}

function unknownBackend(backend: never): never {
  throw new ModelError("not_configured", `Unknown backend ${JSON.stringify(backend)}.`, {
    hint: `Available are ${availableBackends.join(", ")}.`,
  });
}
