import { ModelError } from "@gennai/agent/model";
import { isSelfHosted, type Provider } from "@gennai/protocol/model/session/backend";
import { networkCode } from "../answer/provider-failure.ts";
import { askServer, atRoot, UnusableAnswer } from "../ask-server.ts";
import { type KeySource, type ModelEndpoint, type ModelKnowledge, resolveEndpoint } from "../model-endpoint.ts";
import { modelsAnswer, type SaidModel, tagsAnswer } from "../models-answer.ts";
import { providers } from "../providers.ts";
import { knownNames, type ModelFacts } from "./model-facts.ts";

/** What a person can choose from one provider. */
export interface ListedProvider {
  readonly backend: Provider;
  /** Empty: nobody said where it is. */
  readonly baseUrl: string;
  readonly needsKey: boolean;
  readonly hasKey: boolean;
  readonly models: readonly ListedModel[];
  /** Why there are none, and what to do, for users. */
  readonly problem?: string;
  readonly hint?: string;
}

export interface ListedModel extends ModelFacts {
  readonly model: string;
}

/** Whether a key is available that may be sent to an address, without asking for it. */
export type HasKey = (backend: Provider, baseUrl: string) => Promise<boolean>;

/** Milliseconds that a server of one's own may take. */
const timeoutMs = 3_000;
/** Of one provider: gateways have thousands. */
const mostModels = 2_000;

/**
 * Models of a provider: those of a server of one's own as it says them, those of others by the catalogue. Never rejects.
 * @param baseUrl empty: its usual address
 */
export async function listModels(
  backend: Provider,
  baseUrl: string,
  { keys, hasKey, ...knowledge }: ModelKnowledge & { readonly keys: KeySource; readonly hasKey: HasKey },
): Promise<ListedProvider> {
  const { needsKey, baseUrl: usual } = providers[backend];
  const place = baseUrl || usual;
  const common = { backend, baseUrl: place, needsKey, hasKey: await hasKey(backend, place) };
  const factsOf = async (model: string): Promise<ListedModel> => {
    const facts = await knowledge.known.of({ backend, model, baseUrl: place });
    return { ...facts, model };
  };
  if (!isSelfHosted(backend)) {
    return { ...common, models: await Promise.all((await knownNames({ backend, baseUrl })).map(factsOf)) };
  }
  if (place === "") {
    const hint = "Give its address, as in http://127.0.0.1:8000/v1.";
    return { ...common, models: [], problem: "Its address is not set.", hint };
  }
  try {
    // Any name does: the server is asked which there are.
    const endpoint = await resolveEndpoint(backend, { model: "any", baseUrl: place }, keys, knowledge);
    const said = new Map((await saidBy(backend, endpoint)).map((each) => [each.id, each.contextTokens]));
    const models = await Promise.all(
      [...said].slice(0, mostModels).map(async ([id, contextTokens]) => {
        const listed = await factsOf(id);
        return contextTokens === 0 ? listed : { ...listed, contextTokens };
      }),
    );
    if (models.length > 0) return { ...common, models: models.toSorted(byName) };
    const hint = backend === "ollama" ? "Get one, as in: ollama pull qwen3" : "Load one there.";
    return { ...common, models, problem: "It has no models.", hint };
  } catch (error) {
    return { ...common, models: [], ...whyNot(error, common) };
  }
}

async function saidBy(backend: Provider, endpoint: ModelEndpoint): Promise<readonly SaidModel[]> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    return await askServer(modelsAnswer, endpoint, { url: `${endpoint.baseUrl}/models`, signal });
  } catch (error) {
    // Of Ollama, before it had the other.
    if (backend !== "ollama" || !(error instanceof UnusableAnswer) || error.status !== 404) throw error;
    return askServer(tagsAnswer, endpoint, { url: atRoot(endpoint, "/api/tags"), signal });
  }
}

function byName(a: ListedModel, b: ListedModel): number {
  if (a.model === b.model) return 0;
  return a.model < b.model ? -1 : 1;
}

/** What stands in the way; a server that wants a key needs one, whatever is usual. */
type WhyNot = Required<Pick<ListedProvider, "problem" | "hint">> & Partial<Pick<ListedProvider, "needsKey">>;

function whyNot(error: unknown, { backend, hasKey }: Pick<ListedProvider, "backend" | "hasKey">): WhyNot {
  if (error instanceof ModelError) return { problem: error.message, hint: error.hint ?? "" };
  if (error instanceof UnusableAnswer) return whyUnusable(error.status, hasKey);
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return { problem: `It did not answer within ${timeoutMs / 1000} s.`, hint: "See that it runs, and try again." };
  }
  if (networkCode(error) !== undefined) {
    const hint = backend === "ollama" ? "Start Ollama, or give its address." : "Start it, or give another address.";
    return { problem: "Nothing answers there.", hint };
  }
  return { problem: "It has trouble and could not be asked.", hint: "Try again in a moment." };
}

function whyUnusable(status: number, hasKey: boolean): WhyNot {
  if (status === 401 || status === 403) {
    const [problem, hint] = hasKey ? ["It refuses the key.", "Change its key."] : ["It needs a key.", "Set its key."];
    return { problem, hint, needsKey: true };
  }
  if (status >= 300 && status < 400) {
    return { problem: "It sends requests elsewhere, where the key must not go.", hint: "Give the address it names." };
  }
  return { problem: "What answers there lists no models.", hint: "Its address mostly ends in /v1." };
}
