import * as z from "zod";

export const searchProviderNames = ["brave", "exa", "searxng", "tavily"] as const;
export type SearchProviderName = (typeof searchProviderNames)[number];

export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly text: string;
}

export interface SearchProvider {
  /** undefined if every user runs a server of their own. */
  readonly url: string | undefined;
  /** Environment variables with the key; empty if none is needed. */
  readonly keyVariables: readonly string[];
  /** The request for this many results, in the provider's form. */
  request(url: URL, search: { readonly query: string; readonly count: number; readonly key: string }): Request;
  /** The results in an answer. Throws zod's error if it cannot be read. */
  results(answer: unknown): readonly SearchResult[];
}

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? "");
const listed = (...names: readonly string[]) =>
  z.object({
    results: z.array(
      z
        .looseObject({ title: text, url: z.string() })
        .transform((found) => ({ title: found.title, url: found.url, text: firstText(found, names) })),
    ),
  });
const byContent = listed("content");
const byText = listed("text", "summary");
const byDescription = z.object({ web: listed("description").nullish() });

/** The providers, according to their documentation. */
export const searchProviders: Readonly<Record<SearchProviderName, SearchProvider>> = {
  // https://api-dashboard.search.brave.com/app/documentation/web-search/get-started
  brave: {
    url: "https://api.search.brave.com/res/v1/web/search",
    keyVariables: ["BRAVE_API_KEY"],
    request: (url, { query, count, key }) =>
      new Request(withParameters(url, { q: query, count: `${count}` }), {
        headers: { accept: "application/json", "x-subscription-token": key },
      }),
    results: (answer) => byDescription.parse(answer).web?.results ?? [],
  },
  // https://docs.exa.ai/reference/search
  exa: {
    url: "https://api.exa.ai/search",
    keyVariables: ["EXA_API_KEY"],
    request: (url, { query, count, key }) =>
      posted(url, { "x-api-key": key }, { query, numResults: count, contents: { text: { maxCharacters: 1_000 } } }),
    results: (answer) => byText.parse(answer).results,
  },
  // https://docs.searxng.org/dev/search_api.html
  searxng: {
    url: undefined,
    keyVariables: [],
    request: (url, { query }) =>
      new Request(withParameters(url, { q: query, format: "json" }), { headers: { accept: "application/json" } }),
    results: (answer) => byContent.parse(answer).results,
  },
  // https://docs.tavily.com/documentation/api-reference/endpoint/search
  tavily: {
    url: "https://api.tavily.com/search",
    keyVariables: ["TAVILY_API_KEY"],
    request: (url, { query, count, key }) =>
      posted(url, { authorization: `Bearer ${key}` }, { query, max_results: count }),
    results: (answer) => byContent.parse(answer).results,
  },
};

function posted(url: URL, headers: Readonly<Record<string, string>>, body: object): Request {
  return new Request(url, {
    method: "POST",
    headers: { ...headers, accept: "application/json", "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

function withParameters(url: URL, parameters: Readonly<Record<string, string>>): URL {
  const asked = new URL(url);
  for (const [name, value] of Object.entries(parameters)) asked.searchParams.set(name, value);
  return asked;
}

function firstText(found: Readonly<Record<string, unknown>>, names: readonly string[]): string {
  for (const name of names) {
    const value = found[name];
    if (typeof value === "string") return value;
  }
  return "";
}
