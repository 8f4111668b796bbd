import type { ProviderModels } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { type Backend, backendWords } from "@gennai/protocol/model/session/backend";
import type { AgentClient, CallOptions } from "../connection/connection.ts";

/** One provider's choices for the user. */
export interface ProviderChoice {
  readonly backend: Backend;
  /** Empty: unknown. */
  readonly baseUrl: string;
  readonly needsKey: boolean;
  readonly hasKey: boolean;
  readonly models: readonly ModelChoice[];
  /** Why there are none, and what to do; otherwise empty. */
  readonly problem: string;
  readonly hint: string;
}

export interface ModelChoice {
  readonly model: string;
  /** Tokens; 0: not known. */
  readonly contextTokens: number;
  readonly thinking: boolean;
  readonly images: boolean;
  /** For a million tokens; undefined: not known. */
  readonly prices: { readonly input: number; readonly output: number; readonly currency: string } | undefined;
}

interface Which {
  readonly backend: Backend;
  /** Address of the user's own server. */
  readonly baseUrl: string;
}

/** Models of one provider, or of all. Those that this client does not know are left out. Throws `ConnectError`. */
export async function listModels(
  client: AgentClient,
  which: Which | undefined,
  options: CallOptions,
): Promise<readonly ProviderChoice[]> {
  const asked = which === undefined ? {} : { ...which, backend: backendWords.toMessage(which.backend) };
  const { providers } = await client.listModels(asked, options);
  return providers.flatMap((provider) => {
    const backend = backendWords.fromMessage(provider.backend);
    return backend === undefined ? [] : [choiceOf(backend, provider)];
  });
}

function choiceOf(backend: Backend, provider: ProviderModels): ProviderChoice {
  const { baseUrl, needsKey, hasKey, models, problem, hint } = provider;
  return {
    backend,
    baseUrl,
    needsKey,
    hasKey,
    problem,
    hint,
    models: models.map(({ model, contextTokens, thinking, images, inputPrice, outputPrice, currency }) => ({
      model,
      contextTokens,
      thinking,
      images,
      prices:
        inputPrice === undefined || outputPrice === undefined
          ? undefined
          : { input: inputPrice, output: outputPrice, currency },
    })),
  };
}

/** How a trial of a model went, in words for people. */
export type ModelTrial =
  | { readonly type: "answered"; readonly milliseconds: number }
  | { readonly type: "failed"; readonly problem: string; readonly hint: string };

/** Asks a model for a word. Throws `ConnectError`. */
export async function tryModel(
  client: AgentClient,
  { backend, baseUrl, model }: Which & { readonly model: string },
  options: CallOptions,
): Promise<ModelTrial> {
  const { answered, milliseconds, problem, hint } = await client.tryModel(
    { backend: backendWords.toMessage(backend), baseUrl, model },
    options,
  );
  return answered ? { type: "answered", milliseconds } : { type: "failed", problem, hint };
}

/** e.g. `200k tokens · 3 / 15 USD per million · thinks · sees images`; empty: nothing is known. */
export function describeModel({ contextTokens, thinking, images, prices }: ModelChoice): string {
  const size = contextTokens >= 1e6 ? `${+(contextTokens / 1e6).toFixed(1)}M` : `${Math.round(contextTokens / 1000)}k`;
  return [
    ...(contextTokens > 0 ? [`${size} tokens`] : []),
    ...(prices === undefined ? [] : [`${prices.input} / ${prices.output} ${prices.currency} per million`]),
    ...(thinking ? ["thinks"] : []),
    ...(images ? ["sees images"] : []),
  ].join(" · ");
}
