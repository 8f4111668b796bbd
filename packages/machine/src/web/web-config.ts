import { join } from "node:path";
import { globMatcher } from "@gennai/governance/glob-matcher";
import { errorMessage } from "@gennai/protocol/error-message";
import * as z from "zod";
import { readUserFile } from "../config/user-file.ts";
import { type SearchProviderName, searchProviderNames, searchProviders } from "./search-providers.ts";

/** Name of the file in the user's configuration directory. */
const webFile = "web.json";

/** The shape of the file; `docs/reference/settings.md` is generated from it. */
export const webConfigSchema = z.strictObject({
  allow: z
    .array(z.string().min(1).max(300))
    .max(1_000)
    .default([])
    .describe("Hosts, as globs: `docs.example.org`, `*.example.org`."),
  allow_private: z
    .array(z.string().min(1).max(300))
    .max(100)
    .default([])
    .describe("Hosts with their port on this machine or a private network: `127.0.0.1:8080`."),
  search: z
    .strictObject({
      provider: z.enum(searchProviderNames).describe("Who searches."),
      url: z
        .url({ protocol: /^https?$/ })
        .max(500)
        .optional()
        .describe(
          "Where, if not at the provider's own address; of `searxng` its page for searches. http only on this machine, or without a key.",
        ),
    })
    .optional()
    .describe(
      "The key comes from the environment (`BRAVE_API_KEY`, `EXA_API_KEY`, `TAVILY_API_KEY`) or the keychain. Without this field, a key in the environment says who searches; without both there is no `WebSearch`.",
    ),
});

/** What the agent may fetch from the web: nothing, unless the user configured it. */
export interface WebConfig {
  /** False if nothing can be fetched. */
  readonly enabled: boolean;
  readonly allows: (url: URL) => boolean;
  readonly allowsPrivate: (url: URL) => boolean;
  /** undefined: no search provider is configured, and there is no key of one. */
  readonly search: SearchConfig | undefined;
  /** What the user wrote that cannot be used; undefined if nothing. */
  readonly problem: string | undefined;
}

/** The user's search provider and its address, which may also be on this machine. */
export interface SearchConfig {
  readonly provider: SearchProviderName;
  readonly url: URL;
}

/** @param environment where a key alone says who searches */
export async function loadWebConfig(
  configDir: string,
  environment: Readonly<Record<string, string | undefined>> = {},
): Promise<WebConfig> {
  try {
    const text = (await readUserFile(join(configDir, webFile))) ?? "{}";
    const { allow, allow_private: allowPrivate, search = keyed(environment) } = webConfigSchema.parse(JSON.parse(text));
    const matches = globMatcher([...allow, ...allowPrivate.map(withoutPort)], { nocase: true, noextglob: true });
    const isPrivate = new Set(allowPrivate.map((host) => host.toLowerCase()));
    return {
      enabled: allow.length + allowPrivate.length > 0,
      allows: ({ hostname }) => matches(hostname),
      allowsPrivate: (url) => isPrivate.has(`${url.hostname}:${portOf(url)}`),
      search: search === undefined ? undefined : searchConfig(search),
      problem: undefined,
    };
  } catch (error) {
    const why = error instanceof z.ZodError ? error.issues[0]?.message : errorMessage(error);
    const problem = `${webFile} cannot be used, so no page is fetched: ${why}`;
    return { enabled: false, allows: () => false, allowsPrivate: () => false, search: undefined, problem };
  }
}

/** The first provider, in their order, whose key is there. */
function keyed(
  environment: Readonly<Record<string, string | undefined>>,
): { provider: SearchProviderName; url?: undefined } | undefined {
  const provider = searchProviderNames.find((name) =>
    searchProviders[name].keyVariables.some((variable) => (environment[variable] ?? "").trim() !== ""),
  );
  return provider && { provider };
}

/** Throws `Error` if it cannot be used: a key must not be sent unencrypted over a network. */
function searchConfig({ provider, url }: NonNullable<z.infer<typeof webConfigSchema>["search"]>): SearchConfig {
  const { url: usual, keyVariables } = searchProviders[provider];
  const address = url ?? usual;
  if (address === undefined) throw new Error(`search.url is missing: say where ${provider} is.`);
  const parsed = new URL(address);
  if (parsed.username !== "" || parsed.password !== "")
    throw new Error("search.url holds a user name or password; keys come from the environment or the keychain.");
  const isHere = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(parsed.hostname);
  if (parsed.protocol === "http:" && keyVariables.length > 0 && !isHere)
    throw new Error("search.url must be https: the key would be sent in the clear.");
  return { provider, url: parsed };
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, "");
}

function portOf(url: URL): string {
  return url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
}
