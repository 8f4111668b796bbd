import { ModelError } from "@gennai/agent/model";
import type { Provider } from "@gennai/protocol/model/backend";
import type { ModelSettings } from "./model-registry.ts";
import { providers } from "./providers.ts";

/** Where a provider is reached, with what. */
export interface ModelEndpoint {
  /** Without a trailing slash, never with credentials. */
  readonly baseUrl: string;
  readonly model: string;
  /** Empty: none is needed. */
  readonly apiKey: string;
}

/** Finds the key of a provider; undefined when nobody has it. */
export type KeySource = (backend: Provider) => Promise<string | undefined>;

/** Throws `ModelError` (`not_configured`) for a missing model or key, and for a base URL that cannot be used. */
export async function resolveEndpoint(
  backend: Provider,
  settings: Pick<ModelSettings, "model" | "baseUrl">,
  keys: KeySource,
): Promise<ModelEndpoint> {
  const facts = providers[backend];
  const baseUrl = checkedBaseUrl(backend, settings.baseUrl === "" ? facts.baseUrl : settings.baseUrl);
  if (settings.model === "") {
    throw new ModelError("not_configured", `The backend ${backend} needs a model.`, {
      hint: `Name it with --model, e.g. \`--backend ${backend} --model ${facts.exampleModel}\`.`,
    });
  }
  const apiKey = (await keys(backend)) ?? "";
  if (facts.needsKey && apiKey === "") {
    throw new ModelError("not_configured", `The backend ${backend} needs a key.`, {
      hint: `Put it into the environment variable ${facts.keyVariables.slice(0, 2).join(" or ")}, or into the keychain of the system (service gennai, account ${backend}).`,
    });
  }
  return { baseUrl, model: settings.model, apiKey };
}

function checkedBaseUrl(backend: Provider, written: string): string {
  const hint = "Set --base-url, e.g. `--base-url http://127.0.0.1:8000/v1`.";
  if (written === "") throw new ModelError("not_configured", `The backend ${backend} needs a base URL.`, { hint });
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new ModelError("not_configured", "The base URL is no http or https URL.", { hint });
  }
  if (url.username !== "" || url.password !== "") {
    throw new ModelError("not_configured", "The base URL holds credentials, which would end up in logs.", {
      hint: "Take them out of the URL and put the key into GENNAI_API_KEY.",
    });
  }
  return written.replace(/\/+$/, "");
}
