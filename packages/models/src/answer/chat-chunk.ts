import * as z from "zod";

/** A piece of a call: its name first, its arguments behind it. */
const callPiece = z.object({
  index: z.number().nullish(),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }),
  extra_content: z.object({ google: z.object({ thought_signature: z.string().nullish() }).nullish() }).nullish(),
});

export type CallPiece = z.infer<typeof callPiece>;

/** Text, or parts of it; those of Mistral hold thinking. */
const content = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).nullish();

const choice = z.object({
  delta: z
    .object({
      role: z.enum(["assistant", ""]).nullish(),
      content,
      refusal: z.unknown().optional(),
      reasoning_content: z.string().nullish(),
      reasoning: z.string().nullish(),
      tool_calls: z.array(callPiece).nullish(),
    })
    .nullish(),
  finish_reason: z.string().nullish(),
});

const usage = z.object({
  prompt_tokens: z.number().nullish(),
  completion_tokens: z.number().nullish(),
  total_tokens: z.number().nullish(),
  prompt_tokens_details: z.object({ cached_tokens: z.number().nullish() }).nullish(),
  completion_tokens_details: z.object({ reasoning_tokens: z.number().nullish() }).nullish(),
});

/** One event of a streamed chat completion, as far as it is read. */
export const chatChunk = z.object({
  id: z.string().nullish(),
  created: z.number().nullish(),
  model: z.string().nullish(),
  choices: z.array(choice),
  usage: usage.nullish(),
});

export type ChatChunk = z.infer<typeof chatChunk>;
