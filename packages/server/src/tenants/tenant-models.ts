import type { Model } from "@gennai/agent/model";
import { keyDestination } from "@gennai/models/catalogue/key-destination";
import { type HasKey, listModels } from "@gennai/models/catalogue/listed-models";
import { type KnownModels, loadModelFacts } from "@gennai/models/catalogue/model-facts";
import type { ModelKeys } from "@gennai/models/catalogue/model-keys";
import type { AskEditor } from "@gennai/models/editor-model";
import type { KeySource } from "@gennai/models/model-endpoint";
import { createModel } from "@gennai/models/model-registry";
import type { Provider } from "@gennai/protocol/model/session/backend";
import type { ServerObserver } from "@gennai/sessions/session/server-observer";
import { assertUsersModel } from "../identity/users-models.ts";
import type { ModelChoices, SessionModel } from "../rpc/methods/choose-model-rpcs.ts";
import type { ServerOptions } from "./server-options.ts";

export interface TenantModels extends ModelChoices {
  /** For a session; watched. Rejects with `ModelError`. */
  createModel(settings: SessionModel, asking?: { readonly askEditor?: AskEditor }): Promise<Model>;
}

/** Models of one tenant: those its sessions get, and those its people can choose. */
export function tenantModels(tenant: {
  readonly keys: Pick<ModelKeys, "find" | "has">;
  readonly configDir: string;
  /** There are many users: they choose among what the operator lets them. */
  readonly ofUsers: boolean;
  readonly observer: Pick<ServerObserver, "model">;
  readonly options: Pick<ServerOptions, "defaultSettings" | "environment">;
}): TenantModels {
  const { keys, configDir, ofUsers, observer, options } = tenant;
  const { defaultSettings, environment } = options;
  const allowed: ModelChoices["allowed"] = (choice) => {
    if (ofUsers) assertUsersModel(choice, defaultSettings);
  };
  const placeOf = (backend: Provider, baseUrl: string, known: KnownModels, handedKeyOnly: boolean) =>
    keyDestination({ backend, baseUrl }, { defaults: defaultSettings, known, handedKeyOnly });
  const keysFor =
    (known: KnownModels, handedKeyOnly: boolean): KeySource =>
    async (backend, baseUrl) => {
      const place = placeOf(backend, baseUrl, known, handedKeyOnly);
      return place && keys.find(backend, place);
    };
  return {
    defaults: defaultSettings,
    allowed,
    async createModel(settings, asking) {
      allowed(settings);
      const known = await loadModelFacts(configDir);
      const keyOf = keysFor(known, settings.handedKeyOnly);
      return observer.model(await createModel(settings, keyOf, { ...asking, known, environment }), settings);
    },
    async list(backend, baseUrl) {
      const known = await loadModelFacts(configDir);
      const hasKey: HasKey = async (provider, address) => {
        const place = placeOf(provider, address, known, true);
        return place !== undefined && keys.has(provider, place);
      };
      return listModels(backend, baseUrl, { keys: keysFor(known, true), hasKey, known, environment });
    },
  };
}
