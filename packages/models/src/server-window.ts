import type { Provider } from "@gennai/protocol/model/session/backend";
import * as z from "zod";
import { askServer, atRoot, UnusableAnswer } from "./ask-server.ts";
import type { ModelEndpoint } from "./model-endpoint.ts";
import { isSize, modelsAnswer } from "./models-answer.ts";

/** Milliseconds that all questions together may take; Ollama may have to load the model, which an answer would wait for as well. */
const timeoutMs = { others: 2_000, ollama: 120_000 } as const;

type Place = Pick<ModelEndpoint, "baseUrl" | "model" | "apiKey" | "headers">;

/** Milliseconds before a server that could not say is asked again: it may be starting, or slow with every question. */
const pause = 30_000;

interface Asked {
  readonly tokens: Promise<number>;
  /** From when on it is to be asked again, by `Date.now()`. */
  again: number;
}

/** By server and model, for this process; a server that answered, and did not say, is not asked again, save Ollama, which loads models anew. */
const asked = new Map<string, Asked>();

/**
 * Tokens that a server gives a model, as far as it says so; 0 otherwise. Asked once, and again later if it could not answer. Never rejects.
 * @param kind Ollama has an API of its own for it
 */
export function serverWindow(
  kind: Provider,
  place: Place,
  signal: AbortSignal = new AbortController().signal,
): Promise<number> {
  const key = JSON.stringify([kind, place.baseUrl, place.model]);
  const known = asked.get(key);
  if (known !== undefined && Date.now() < known.again) return known.tokens;
  const found = windowOf(kind, place, signal);
  const entry: Asked = { tokens: found.then(({ tokens }) => tokens), again: Number.POSITIVE_INFINITY };
  asked.set(key, entry);
  return found.then(({ tokens, final }) => {
    if (!final || kind === "ollama") entry.again = Date.now() + pause;
    return tokens;
  });
}

interface Found {
  readonly tokens: number;
  /** False where another time may tell more. */
  readonly final: boolean;
}

async function windowOf(kind: Provider, place: Place, stopped: AbortSignal): Promise<Found> {
  const limit = AbortSignal.timeout(kind === "ollama" ? timeoutMs.ollama : timeoutMs.others);
  const signal = AbortSignal.any([stopped, limit]);
  let final = true;
  for (const question of kind === "ollama" ? ofOllama : ofOthers) {
    try {
      const found = await question(place, signal);
      if (found !== undefined && isSize(found)) return { tokens: found, final: true };
    } catch (error) {
      // Servers differ in what they can be asked: the next one.
      if (!(error instanceof UnusableAnswer)) final = false;
    }
  }
  return { tokens: 0, final };
}

type Question = (place: Place, signal: AbortSignal) => Promise<number | undefined>;

const lmStudioAnswer = z.object({ loaded_context_length: z.number() });
const propsAnswer = z.object({ default_generation_settings: z.object({ n_ctx: z.number() }) });
const psAnswer = z.object({ models: z.array(z.object({ name: z.string(), context_length: z.number().optional() })) });
const showAnswer = z.object({ parameters: z.string() });

const ofOthers: readonly Question[] = [
  async (place, signal) => {
    const models = await askServer(modelsAnswer, place, { url: `${place.baseUrl}/models`, signal });
    return models.find(({ id }) => id === place.model)?.contextTokens;
  },
  // LM Studio: https://lmstudio.ai/docs/developer/rest/endpoints
  async (place, signal) => {
    const url = atRoot(place, `/api/v0/models/${encodeURIComponent(place.model)}`);
    return (await askServer(lmStudioAnswer, place, { url, signal })).loaded_context_length;
  },
  // llama.cpp: tools/server/README.md, GET /props
  async (place, signal) => {
    const answer = await askServer(propsAnswer, place, { url: atRoot(place, "/props"), signal });
    return answer.default_generation_settings.n_ctx;
  },
];

/**
 * https://github.com/ollama/ollama/blob/main/docs/api.md: what is loaded, what its Modelfile says, or what it gets when it is loaded ("if
 * an empty prompt is provided, the model will be loaded into memory"). Its OpenAI-compatible API takes no size
 * (https://github.com/ollama/ollama/blob/main/docs/api/openai-compatibility.mdx), and what does not fit is cut off without a word.
 */
const ofOllama: readonly Question[] = [
  loadedWindow,
  async (place, signal) => {
    const url = atRoot(place, "/api/show");
    const { parameters } = await askServer(showAnswer, place, { url, signal, body: { model: place.model } });
    const written = /^num_ctx\s+(\d+)\s*$/m.exec(parameters)?.[1];
    return written === undefined ? undefined : Number(written);
  },
  async (place, signal) => {
    await askServer(z.unknown(), place, { url: atRoot(place, "/api/generate"), signal, body: { model: place.model } });
    return loadedWindow(place, signal);
  },
];

async function loadedWindow(place: Place, signal: AbortSignal): Promise<number | undefined> {
  const { models } = await askServer(psAnswer, place, { url: atRoot(place, "/api/ps"), signal });
  return models.find(({ name }) => name === place.model || name === `${place.model}:latest`)?.context_length;
}
