import { type Model, ModelError } from "@gennai/agent/model";
import { backends } from "@gennai/protocol/model/session/backend";
import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";
import { type AskEditor, EditorModel } from "./editor-model.ts";
import { type KeySource, type ModelKnowledge, resolveEndpoint } from "./model-endpoint.ts";
import { isProvider, providers } from "./providers.ts";

export type ModelSettings = Pick<SessionSettings, "backend" | "model" | "baseUrl">;

/**
 * The model that settings ask for; its code is loaded only now. Makes no request. Throws `ModelError` (`not_configured`) when
 * something is missing, with a hint that says what to set.
 */
export async function createModel(
  settings: ModelSettings,
  keys: KeySource,
  options: ModelKnowledge & { readonly askEditor?: AskEditor },
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
    case "editor":
      return new EditorModel(settings.model, options.askEditor);
    default:
      // A log of a later version may name another.
      if (!isProvider(backend)) {
        throw new ModelError("not_configured", `Unknown backend ${JSON.stringify(backend)}.`, {
          hint: `Available are ${backends.join(", ")}.`,
        });
      }
      return providers[backend].load(await resolveEndpoint(backend, settings, keys, options));
  }
}
