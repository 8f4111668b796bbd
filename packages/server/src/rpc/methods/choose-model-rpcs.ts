import type { ServiceImpl } from "@connectrpc/connect";
import type { Model } from "@gennai/agent/model";
import { ServiceError } from "@gennai/machine/service-error";
import type { ListedProvider } from "@gennai/models/catalogue/listed-models";
import type { ModelTrial } from "@gennai/models/catalogue/try-model";
import type { ModelSettings } from "@gennai/models/model-registry";
import { type AgentService, Backend } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { backendWords, type Provider, providerNames } from "@gennai/protocol/model/session/backend";
import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";

/** The model of a session, and which keys may go to it. */
export type SessionModel = ModelSettings & Pick<SessionSettings, "handedKeyOnly">;

export interface ModelChoices {
  /** The server's defaults, for users who choose nothing. */
  readonly defaults: ModelSettings;
  /** Throws `ModelError` for what users of this server may not choose. */
  allowed(choice: ModelSettings): void;
  list(backend: Provider, baseUrl: string): Promise<ListedProvider>;
  /** Rejects with `ModelError`. */
  createModel(choice: SessionModel): Promise<Model>;
}

export interface ModelTrying {
  /** Asks for a word. Rejects with `ServiceError` when no model may be tried now. */
  run(load: () => Promise<Model>, signal: AbortSignal): Promise<ModelTrial>;
}

/** The models that a user can choose from, and whether one answers. */
export function chooseModelRpcs(
  choices: ModelChoices,
  trials: ModelTrying,
): Pick<ServiceImpl<typeof AgentService>, "listModels" | "tryModel"> {
  const { defaults } = choices;
  return {
    async listModels({ backend, baseUrl }) {
      const asked = backend === Backend.UNSPECIFIED ? undefined : providerOf(backend);
      const places = (asked === undefined ? providerNames : [asked])
        .map((each) => ({
          backend: each,
          model: "",
          baseUrl: (asked && baseUrl) || (each === defaults.backend ? defaults.baseUrl : ""),
        }))
        .filter((choice) => asked !== undefined || isAllowed(choices, choice));
      for (const place of places) choices.allowed(place);
      const listed = await Promise.all(places.map((place) => choices.list(place.backend, place.baseUrl)));
      return { providers: listed.map(toWire) };
    },
    async tryModel({ backend, model, baseUrl }, { signal }) {
      // A person may have typed the address a moment ago.
      const choice = { backend: providerOf(backend), model, baseUrl, handedKeyOnly: true };
      choices.allowed(choice);
      if (model === "")
        throw new ServiceError("invalid_argument", "model is empty.", { hint: "Name one: ListModels has them." });
      return trials.run(() => choices.createModel(choice), signal);
    },
  };
}

function isAllowed({ allowed }: ModelChoices, choice: ModelSettings): boolean {
  try {
    allowed(choice);
    return true;
  } catch {
    return false;
  }
}

function providerOf(backend: Backend): Provider {
  const provider = providerNames.find((each) => backendWords.toMessage(each) === backend);
  if (provider !== undefined) return provider;
  throw new ServiceError("invalid_argument", "backend: this one has no models to choose from.", {
    hint: `Choose one of ${providerNames.join(", ")}.`,
  });
}

function toWire({ backend, models, ...provider }: ListedProvider) {
  return {
    ...provider,
    backend: backendWords.toMessage(backend),
    models: models.map(({ model, contextTokens, outputTokens, thinking, images, prices }) => ({
      model,
      contextTokens,
      outputTokens,
      thinking: thinking ?? false,
      images: images ?? false,
      ...(prices === undefined
        ? {}
        : { inputPrice: prices.input, outputPrice: prices.output, currency: prices.currency }),
    })),
  };
}
