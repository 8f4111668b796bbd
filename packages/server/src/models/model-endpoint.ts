import { ModelError } from "@gennai/agent/model";
import type { Backend } from "@gennai/agent/session-settings";
import type { ModelSettings } from "./model-registry.ts";

/** Where a provider is reached, with what. */
export interface ModelEndpoint {
  /** Without a trailing slash, never with credentials. */
  readonly baseUrl: string;
  readonly model: string;
  /** Empty: none is needed. */
  readonly apiKey: string;
}

/** Providers that are reached over the network. */
export type ProviderBackend = Extract<Backend, "openai-compatible" | "openai" | "ollama" | "anthropic" | "gemini">;

interface ProviderFacts {
  /** Empty: the user has to name one. */
  readonly baseUrl: string;
  readonly needsKey: boolean;
  /** Environment variables that may hold the key, the first one found counts. */
  readonly keyVariables: readonly string[];
  readonly exampleModel: string;
}

export const providerFacts: Readonly<Record<ProviderBackend, ProviderFacts>> = {
  "openai-compatible": {
    baseUrl: "",
    needsKey: false,
    keyVariables: ["GENNAI_API_KEY", "OPENAI_API_KEY"],
    exampleModel: "qwen3",
  },
  openai: {
    baseUrl: "https://api.openai.com/v1",
    needsKey: true,
    keyVariables: ["GENNAI_API_KEY", "OPENAI_API_KEY"],
    exampleModel: "gpt-5",
  },
  ollama: {
    baseUrl: "http://127.0.0.1:11434/v1",
    needsKey: false,
    keyVariables: ["GENNAI_API_KEY", "OLLAMA_API_KEY"],
    exampleModel: "qwen3",
  },
  anthropic: {
    baseUrl: "https://api.anthropic.com/v1",
    needsKey: true,
    keyVariables: ["GENNAI_API_KEY", "ANTHROPIC_API_KEY"],
    exampleModel: "claude-sonnet-5",
  },
  gemini: {
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    needsKey: true,
    keyVariables: ["GENNAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GOOGLE_API_KEY"],
    exampleModel: "gemini-3-pro",
  },
};

/** Finds the key of a provider; undefined when nobody has it. */
export type KeySource = (backend: ProviderBackend) => Promise<string | undefined>;

/** Throws `ModelError` (`not_configured`) for a missing model or key, and for a base URL that cannot be used. */
export async function resolveEndpoint(
  backend: ProviderBackend,
  settings: Pick<ModelSettings, "model" | "baseUrl">,
  keys: KeySource,
): Promise<ModelEndpoint> {
  const facts = providerFacts[backend];
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

function checkedBaseUrl(backend: ProviderBackend, written: string): string {
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
