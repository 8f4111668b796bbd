import * as z from "zod";

const text = z.string().optional().catch(undefined);
/** Some servers write numbers as text. */
const count = z.coerce.number().nonnegative().optional().catch(undefined);

/** A piece of a call: its name first, its arguments behind it, by some servers as the object that they are. */
const callPiece = z.object({
  index: z.number().optional().catch(undefined),
  id: text,
  function: z
    .object({
      name: text,
      arguments: z.union([z.string(), z.looseObject({}).transform((object) => JSON.stringify(object))]).nullish(),
    })
    .nullish(),
  extra_content: z
    .object({ google: z.object({ thought_signature: text }).optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

export type CallPiece = z.infer<typeof callPiece>;

const delta = z.object({
  /** Text, or parts of it; those of Mistral hold thinking. */
  content: z.union([z.string(), z.array(z.unknown()), z.looseObject({}).transform((part) => [part])]).nullish(),
  refusal: text,
  reasoning_content: text,
  reasoning: z
    .union([z.string(), z.object({ text: z.string() }).transform((thought) => thought.text)])
    .optional()
    .catch(undefined),
  reasoning_details: z.array(z.record(z.string(), z.json())).optional().catch(undefined),
  tool_calls: z.array(callPiece).nullish(),
});

const choice = z.object({
  delta: delta.nullish(),
  /** By servers that do not stream, in place of the delta. */
  message: delta.nullish(),
  finish_reason: text,
  error: z.unknown().optional(),
});

const usage = z.object({
  prompt_tokens: count,
  completion_tokens: count,
  prompt_tokens_details: z.object({ cached_tokens: count }).optional().catch(undefined),
  completion_tokens_details: z.object({ reasoning_tokens: count }).optional().catch(undefined),
});

/**
 * One event of a streamed chat completion, as far as it is read. Servers differ in all but what is said and called, so anything else that is
 * of another kind counts as missing.
 */
export const chatChunk = z.object({
  model: text,
  choices: z.array(choice).nullish(),
  usage: usage.optional().catch(undefined),
  /** These are there where it is an error. */
  error: z.unknown().optional(),
  object: text,
  type: text,
});

export type ChatChunk = z.infer<typeof chatChunk>;
