import { describeModel, type ModelChoice, type ProviderChoice } from "@gennai/client/host/model-choices";
import type { ChosenModel } from "@gennai/client/host/window-requests";
import { type Backend, backendLabel, isSelfHosted } from "@gennai/protocol/model/session/backend";

/** One line of the list of models. */
export interface ShownModel extends ChosenModel {
  readonly name: string;
  /** E.g. `200k tokens · sees images`; can be empty. */
  readonly facts: string;
  /** True if it needs a key, and none is set. */
  readonly lacksKey: boolean;
}

/** A person's search for a model. */
export interface ModelSearch {
  readonly text: string;
  /** undefined: all. */
  readonly backend: Backend | undefined;
}

const builtIn: ShownModel = {
  backend: "offline",
  model: "",
  baseUrl: "",
  name: "No language model",
  facts: "a small assistant for a few fixed requests",
  lacksKey: false,
};

/**
 * Models that match a search: those that can be used at once first. A name in no list can be chosen as well, from the provider
 * that is selected. Scripts are for tests, and not offered.
 */
export function shownModels(
  providers: readonly ProviderChoice[],
  { text, backend }: ModelSearch,
): readonly ShownModel[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const fits = (model: ShownModel): boolean => {
    if (backend !== undefined && model.backend !== backend) return false;
    const said = `${model.name} ${backendLabel(model.backend)} ${model.backend}`.toLowerCase();
    return words.every((word) => said.includes(word));
  };
  const all = [...providers].toSorted((a, b) => Number(lacksKey(a)) - Number(lacksKey(b))).flatMap(modelsOf);
  const found = [...all, builtIn].filter(fits);
  const provider = providers.find((each) => each.backend === backend);
  const typed = text.trim();
  if (provider === undefined || typed === "" || found.some(({ model }) => model === typed)) return found;
  return [...found, { ...shown(provider, typed), facts: "not in the list: as typed" }];
}

function modelsOf(provider: ProviderChoice): readonly ShownModel[] {
  return provider.models
    .toSorted((a, b) => rankOf(a) - rankOf(b))
    .map((each) => ({ ...shown(provider, each.model), facts: describeModel(each) }));
}

/** Models for other work than this, by what their names say, and what may change or go soon. */
const forOtherWork = /robot|embed|tts|audio|speech|image|video|veo|realtime|live|moderat|transcri|whisper|guard|ocr/i;
const forNow = /preview|beta|experimental|-exp\b|\d{4}-?[01]\d-?[0-3]\d/i;

/** Low for what most want: a model for this work, known with its price, that stays. The provider's order among equals. */
function rankOf({ model, prices }: ModelChoice): number {
  return (forOtherWork.test(model) ? 4 : 0) + (forNow.test(model) ? 2 : 0) + (prices === undefined ? 1 : 0);
}

function shown(provider: ProviderChoice, model: ModelChoice["model"]): Omit<ShownModel, "facts"> {
  const baseUrl = isSelfHosted(provider.backend) ? provider.baseUrl : "";
  return { backend: provider.backend, model, baseUrl, name: model, lacksKey: lacksKey(provider) };
}

function lacksKey({ needsKey, hasKey }: ProviderChoice): boolean {
  return needsKey && !hasKey;
}

export function isSameModel(a: ChosenModel, b: ChosenModel): boolean {
  return a.backend === b.backend && a.model === b.model && a.baseUrl === b.baseUrl;
}
