import type { Prices } from "@gennai/agent/events/prices";
import { isSelfHosted } from "@gennai/protocol/model/session/backend";
import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";
import { type CataloguedModel, catalogued, cataloguedNames } from "../catalogue.ts";
import { type ModelsFile, readModelsFile } from "../models-file.ts";
import { isProvider, providers } from "../providers.ts";

/** What is known of a model without a request: from the user's file, else from the catalogue. */
export type ModelFacts = CataloguedModel;

type NamedModel = Pick<SessionSettings, "backend" | "model" | "baseUrl">;

export interface KnownModels {
  /** @param id as shown, if it is not backend and name */
  of(settings: NamedModel, id?: string): Promise<ModelFacts>;
  /** What requests to this base URL get, as written: with variables in it. */
  headersFor(baseUrl: string): Readonly<Record<string, string>>;
  /** Whether the user named this address, or one that it lies below. */
  isNamed(baseUrl: string): boolean;
  /** What the user wrote that cannot be used. */
  readonly problem: string | undefined;
}

/** Reads the user's file. Never rejects. */
export async function loadModelFacts(configDir: string): Promise<KnownModels> {
  const file = await readModelsFile(configDir);
  return {
    problem: file.problem,
    headersFor: (baseUrl) => headersFor(file, baseUrl),
    isNamed: (baseUrl) => Object.keys(file.headers).some((address) => liesBelow(baseUrl, address)),
    async of(settings, id = `${settings.backend}/${settings.model}`) {
      const host = hostOf(settings);
      const listed = (host === undefined ? undefined : await catalogued(host, settings.model)) ?? nothingKnown;
      return withUsers(file, listed, [id, settings.model]);
    },
  };
}

export const nothingKnown: ModelFacts = {
  prices: undefined,
  contextTokens: 0,
  outputTokens: 0,
  thinking: undefined,
  images: undefined,
  efforts: [],
};

/** Names of models that a provider's public address serves, or that the catalogue knows of this address. */
export async function knownNames(of: Omit<NamedModel, "model">): Promise<readonly string[]> {
  const host = hostOf({ ...of, model: "" });
  return host === undefined ? [] : cataloguedNames(host);
}

/** Who serves a model. A provider with a protocol of its own is known by it: behind a gateway its models are the same. */
function hostOf({ backend, baseUrl }: NamedModel): string | undefined {
  if (!isProvider(backend)) return undefined;
  const address = isSelfHosted(backend) ? baseUrl : providers[backend].baseUrl;
  return URL.canParse(address) ? new URL(address).host : undefined;
}

function withUsers(
  { models, currency, problem }: ModelsFile,
  listed: ModelFacts,
  names: readonly string[],
): ModelFacts {
  const written = names.flatMap((name) => (Object.hasOwn(models, name) ? [models[name]] : []))[0];
  return {
    prices:
      problem === undefined ? (usersPrices(written, currency) ?? sameCurrency(listed.prices, currency)) : undefined,
    contextTokens: written?.context_tokens ?? listed.contextTokens,
    outputTokens: written?.output_tokens ?? listed.outputTokens,
    thinking: written?.thinking ?? listed.thinking,
    images: written?.images ?? listed.images,
    efforts: listed.efforts,
  };
}

/** undefined unless both prices, of input and of output, are there. */
function usersPrices(written: ModelsFile["models"][string] | undefined, currency: string): Prices | undefined {
  const { input, output } = written ?? {};
  if (input === undefined || output === undefined) return undefined;
  return {
    currency,
    input,
    output,
    cachedInput: written?.cached_input ?? input,
    cacheWrite: written?.cache_write ?? input,
  };
}

/** Amounts in different currencies have no sum. */
function sameCurrency(prices: Prices | undefined, currency: string): Prices | undefined {
  return prices?.currency === currency ? prices : undefined;
}

/** Of the longest address that this one lies below: never of one that only begins with the same letters. */
function headersFor({ headers }: ModelsFile, baseUrl: string): Readonly<Record<string, string>> {
  const below = Object.keys(headers).filter((address) => liesBelow(baseUrl, address));
  const nearest = below.toSorted((one, other) => other.length - one.length)[0];
  return nearest === undefined ? {} : (headers[nearest] ?? {});
}

function liesBelow(baseUrl: string, address: string): boolean {
  if (!URL.canParse(baseUrl)) return false;
  const inner = new URL(baseUrl);
  const outer = new URL(address);
  const path = outer.pathname.replace(/\/+$/, "");
  return inner.origin === outer.origin && (inner.pathname === path || inner.pathname.startsWith(`${path}/`));
}
