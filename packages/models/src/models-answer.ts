import * as z from "zod";

/** An entry of a server's `/models`. */
export interface SaidModel {
  readonly id: string;
  /** Tokens it takes, as far as the server says so; 0 otherwise. */
  readonly contextTokens: number;
}

/** Fields as servers name what they give a model, not what it was trained with. */
const entrySchema = z.object({
  // Names are shown to people and sent back: nothing that is drawn as something else.
  id: z.string().regex(/^[\x20-\x7E]{1,200}$/),
  /** vLLM (`ModelCard` in vllm/entrypoints/openai/protocol.py), SGLang. */
  max_model_len: z.number().nullish().catch(undefined),
  /** Groq: https://console.groq.com/docs/api-reference#models */
  context_window: z.number().nullish().catch(undefined),
  /** OpenRouter: https://openrouter.ai/docs/api-reference/list-available-models; Together. */
  context_length: z.number().nullish().catch(undefined),
  /** Mistral: https://docs.mistral.ai/api/#tag/models */
  max_context_length: z.number().nullish().catch(undefined),
});

/** What a server answers to `/models`. Entries that cannot be used are left out. */
export const modelsAnswer = z
  .object({ data: z.array(z.unknown()) })
  .transform(({ data }): readonly SaidModel[] => data.flatMap(saidModel));

/** What Ollama answers to `/api/tags`: https://github.com/ollama/ollama/blob/main/docs/api.md */
export const tagsAnswer = z
  .object({ models: z.array(z.object({ name: z.unknown() })) })
  .transform(({ models }): readonly SaidModel[] => models.flatMap(({ name }) => saidModel({ id: name })));

function saidModel(entry: unknown): readonly SaidModel[] {
  const { data } = entrySchema.safeParse(entry);
  if (data === undefined) return [];
  const size = data.max_model_len ?? data.context_window ?? data.context_length ?? data.max_context_length ?? 0;
  return [{ id: data.id, contextTokens: isSize(size) ? size : 0 }];
}

/** Tokens that a model may well take. */
export function isSize(tokens: number): boolean {
  return Number.isSafeInteger(tokens) && tokens > 0 && tokens <= 1e9;
}
