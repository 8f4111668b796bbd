import { ModelError } from "@gennai/agent/model";
import type { Provider } from "@gennai/protocol/model/session/backend";
import type { CataloguedModel } from "./catalogue.ts";
import type { ModelSettings } from "./model-registry.ts";
import { modelsFile } from "./models-file.ts";
import { providers } from "./providers.ts";

/** Where a provider is reached, with what. */
export interface ModelEndpoint {
  /** Without a trailing slash, never with credentials. */
  readonly baseUrl: string;
  readonly model: string;
  /** Empty: none is needed. */
  readonly apiKey: string;
  /** What every request gets besides its own. */
  readonly headers: Readonly<Record<string, string>>;
  readonly facts: CataloguedModel;
}

/** Finds the key of a provider that may go to this address; undefined when nobody has one. */
export type KeySource = (backend: Provider, baseUrl: string) => Promise<string | undefined>;

/** What is known of models, and where variables in the user's headers are looked up. */
export interface ModelKnowledge {
  readonly known: {
    of(model: {
      readonly backend: Provider;
      readonly model: string;
      readonly baseUrl: string;
    }): Promise<CataloguedModel>;
    headersFor(baseUrl: string): Readonly<Record<string, string>>;
  };
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Throws `ModelError` (`not_configured`) for a missing model, key or variable, and for a base URL that cannot be used. */
export async function resolveEndpoint(
  backend: Provider,
  settings: Pick<ModelSettings, "model" | "baseUrl">,
  keys: KeySource,
  { known, environment }: ModelKnowledge,
): Promise<ModelEndpoint> {
  const facts = providers[backend];
  const baseUrl = checkedBaseUrl(backend, settings.baseUrl === "" ? facts.baseUrl : settings.baseUrl);
  if (settings.model === "") {
    throw new ModelError("not_configured", `The backend ${backend} needs a model.`, {
      hint: `Choose one of its models, e.g. ${facts.exampleModel}.`,
    });
  }
  const apiKey = (await keys(backend, baseUrl)) ?? "";
  if (!/^[\x20-\x7E]*$/.test(apiKey)) {
    throw new ModelError(
      "not_configured",
      `The key of ${backend} holds a line break, or another character that no key has.`,
      { hint: "Set it again, in one line." },
    );
  }
  if (facts.needsKey && apiKey === "") {
    throw new ModelError("not_configured", `The backend ${backend} needs a key.`, {
      hint: `Set it where you choose the model, or as ${facts.keyVariables.slice(0, 2).join(" or ")} in the server's environment. Its keychain works too: service gennai, account ${backend}.`,
    });
  }
  const headers = Object.entries(known.headersFor(baseUrl)).map(
    ([name, value]) => [name, withVariables(name, value, environment)] as const,
  );
  return {
    baseUrl,
    model: settings.model,
    apiKey,
    headers: Object.fromEntries(headers),
    facts: await known.of({ backend, model: settings.model, baseUrl }),
  };
}

function withVariables(header: string, value: string, environment: ModelKnowledge["environment"]): string {
  return value.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => {
    const found = environment[name];
    if (found !== undefined && /^[\x20-\x7E]+$/.test(found)) return found;
    const why = found === undefined || found === "" ? "which is not set" : "which holds more than plain characters";
    throw new ModelError("not_configured", `The header ${header} needs the environment variable ${name}, ${why}.`, {
      hint: `Set it where the server starts, or take the header out of ${modelsFile}.`,
    });
  });
}

function checkedBaseUrl(backend: Provider, written: string): string {
  const hint = "Give the address of the model's server, as in http://127.0.0.1:8000/v1.";
  if (written === "") throw new ModelError("not_configured", `The backend ${backend} needs a base URL.`, { hint });
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new ModelError("not_configured", "The base URL is not an http or https URL.", { hint });
  }
  if (url.username !== "" || url.password !== "") {
    throw new ModelError("not_configured", "The base URL holds credentials, which would end up in logs.", {
      hint: "Take them out of the URL, and set the key by itself.",
    });
  }
  return written.replace(/\/+$/, "");
}
