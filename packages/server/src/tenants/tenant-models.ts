import { type Model, ModelError } from "@gennai/agent/model";
import { modelRefusal } from "@gennai/governance/limits/laid-down";
import type { Limits } from "@gennai/governance/limits/limits";
import { refuseManaged } from "@gennai/machine/managed-refusal";
import { keyDestination } from "@gennai/models/catalogue/key-destination";
import { type HasKey, listModels } from "@gennai/models/catalogue/listed-models";
import { type KnownModels, loadModelFacts } from "@gennai/models/catalogue/model-facts";
import type { ModelKeys } from "@gennai/models/catalogue/model-keys";
import type { AskEditor } from "@gennai/models/editor-model";
import type { KeySource } from "@gennai/models/model-endpoint";
import { createModel } from "@gennai/models/model-registry";
import { isProvider, providers } from "@gennai/models/providers";
import { type Provider, publicBackends } from "@gennai/protocol/model/session/backend";
import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";
import type { ServerObserver } from "@gennai/sessions/session/server-observer";
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
  /** The limits in force, which may not permit every model. */
  readonly limits: () => Promise<Limits>;
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
      refuseManaged(modelRefusal(await tenant.limits(), { ...settings, origin: originOf(settings) }));
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

type Choice = Pick<SessionSettings, "backend" | "model" | "baseUrl">;

/**
 * Throws `ModelError` for a model that only the operator may choose: an address of a user's choice would get the server's
 * keys and reach what only the server reaches, and a script is a file of the server. The operator's own choice is for all.
 */
function assertUsersModel(choice: Choice, operators: Choice): void {
  const isOperators = choice.backend === operators.backend && choice.baseUrl === operators.baseUrl;
  if (choice.backend === "scripted" && isOperators && choice.model === operators.model) return;
  if (choice.backend !== "scripted" && isOperators) return;
  if (publicBackends.includes(choice.backend) && choice.baseUrl === "") return;
  throw new ModelError("not_configured", "This model is not for the users of this server to choose.", {
    hint: `Leave base_url empty and choose one of ${publicBackends.join(", ")}; or leave the model to the server.`,
  });
}

/** Where its server is, as a policy lists such places; undefined if it has none of its own. */
function originOf({ backend, baseUrl }: SessionModel): string | undefined {
  if (!isProvider(backend)) return undefined;
  return URL.parse(baseUrl === "" ? providers[backend].baseUrl : baseUrl)?.origin;
}
