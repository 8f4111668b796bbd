import type { Prices, Rates } from "@gennai/agent/events/prices";
import { type Effort, efforts } from "@gennai/protocol/model/session/effort";

/** What is known of a model. 0 and undefined: not known. */
export interface CataloguedModel {
  readonly prices: Prices | undefined;
  /** Tokens it takes. */
  readonly contextTokens: number;
  /** Tokens an answer may have. */
  readonly outputTokens: number;
  readonly thinking: boolean | undefined;
  readonly images: boolean | undefined;
  /** How hard it can be told to think, from the least; empty: not known. */
  readonly efforts: readonly Effort[];
}

type RateRow = readonly [input: number, output: number, cachedInput: number, cacheWrite: number];

/** A line of the generated file. Prices are in USD for a million tokens; rows of rates behind the first hold above that input. */
export type CatalogueRow = readonly [
  id: string,
  contextTokens: number,
  outputTokens: number,
  /** `t`: it thinks, `i`: it takes images. */
  abilities: string,
  efforts: string,
  ...prices: readonly [] | readonly [RateRow, ...(readonly [above: number, ...RateRow])[]],
];

/**
 * The catalogue's data about a model on this host; undefined if unknown. A dated name is also looked up without its date, and
 * one without `-preview` with it. The catalogue is loaded on first use.
 */
export async function catalogued(host: string, model: string): Promise<CataloguedModel | undefined> {
  const { catalogueRows } = await import("./gen/catalogue.ts");
  if (!Object.hasOwn(catalogueRows, host)) return undefined;
  const rows = catalogueRows[host] ?? [];
  for (const name of namesOf(model)) {
    const found = rows.find(([id]) => id === name);
    if (found !== undefined) return factsOf(found);
  }
  return undefined;
}

/** Names of what a host serves, as the catalogue has them; empty when it knows nothing of it. */
export async function cataloguedNames(host: string): Promise<readonly string[]> {
  const { catalogueRows } = await import("./gen/catalogue.ts");
  return Object.hasOwn(catalogueRows, host) ? (catalogueRows[host] ?? []).map(([id]) => id) : [];
}

function namesOf(written: string): readonly string[] {
  const model = written.replace(/^models\//, "");
  const undated = model.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, "");
  return [model, undated, `${model}-preview`, undated.replace(/-preview(?:-\d{2}-\d{2,4})?$/, "")];
}

function factsOf([
  ,
  contextTokens,
  outputTokens,
  abilities,
  effortWords,
  base,
  ...tiers
]: CatalogueRow): CataloguedModel {
  return {
    contextTokens,
    outputTokens,
    thinking: abilities.includes("t"),
    images: abilities.includes("i"),
    efforts: efforts.filter((effort) => effortWords.split(" ").includes(effort)),
    prices:
      base === undefined
        ? undefined
        : { currency: "USD", ...rates(base), tiers: tiers.map(([above, ...row]) => ({ above, ...rates(row) })) },
  };
}

function rates([input, output, cachedInput, cacheWrite]: RateRow): Rates {
  return { input, output, cachedInput, cacheWrite };
}
