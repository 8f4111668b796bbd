import * as z from "zod";
import type { AnswerBytes } from "./answer-bytes.ts";
import { EventData, isSignOfLife, type SentEvent } from "./event-data.ts";

const text = z.string().optional().catch(undefined);
const count = z.coerce.number().nonnegative().optional().catch(undefined);
const due = z.coerce.number().nonnegative().catch(0);
const asIs = z.looseObject({});
const item = { item_id: z.string().catch(""), output_index: z.number().optional().catch(undefined) };

/** The events of a format that are needed, by their types, each with the fields that are. Others are left out. */
export type NeededEvents = Readonly<Record<string, z.ZodType>>;

const anthropicUsage = {
  input_tokens: count,
  output_tokens: due,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
};

/** https://platform.claude.com/docs/en/build-with-claude/streaming: "new event types may be added, and your code should handle unknown event types gracefully". */
export const anthropicEvents: NeededEvents = {
  message_start: z.object({
    type: text,
    message: z.object({
      id: text,
      model: text,
      usage: z.object({ ...anthropicUsage, input_tokens: due }).catch({ input_tokens: 0, output_tokens: 0 }),
    }),
  }),
  "content_block_start text": asIs,
  "content_block_start thinking": asIs,
  "content_block_start redacted_thinking": asIs,
  "content_block_start tool_use": asIs,
  "content_block_delta text_delta": asIs,
  "content_block_delta thinking_delta": asIs,
  "content_block_delta signature_delta": asIs,
  "content_block_delta input_json_delta": asIs,
  content_block_stop: asIs,
  message_delta: z.object({
    type: text,
    delta: z.object({ stop_reason: text, stop_sequence: text }).catch({}),
    usage: z.object(anthropicUsage).catch({ output_tokens: 0 }),
  }),
  message_stop: asIs,
  error: asIs,
};

const responsesEnd = z.object({
  type: text,
  response: z.object({
    incomplete_details: z.object({ reason: z.string() }).nullable().catch(null),
    usage: z
      .object({
        input_tokens: z.coerce.number(),
        input_tokens_details: z.object({ cached_tokens: count }).optional().catch(undefined),
        output_tokens: z.coerce.number(),
        output_tokens_details: z.object({ reasoning_tokens: count }).optional().catch(undefined),
      })
      .optional()
      .catch(undefined),
  }),
});
const call = z.looseObject({
  item: z.looseObject({ arguments: z.string().catch(""), status: z.string().catch("completed") }),
});

/** https://platform.openai.com/docs/api-reference/responses-streaming */
export const responsesEvents: NeededEvents = {
  "response.created": z.object({
    type: text,
    response: z.object({ id: z.string().catch(""), created_at: due, model: z.string().catch("") }),
  }),
  "response.output_item.added message": asIs,
  "response.output_item.added reasoning": asIs,
  "response.output_item.added function_call": call,
  "response.output_item.added custom_tool_call": asIs,
  "response.output_item.done message": asIs,
  "response.output_item.done reasoning": asIs,
  "response.output_item.done function_call": call,
  "response.output_item.done custom_tool_call": asIs,
  "response.output_text.delta": z.object({ type: text, ...item, delta: z.string() }),
  "response.refusal.delta": z.object({ type: text, ...item, delta: z.string() }),
  "response.reasoning_summary_part.added": asIs,
  "response.reasoning_summary_text.delta": asIs,
  "response.reasoning_summary_part.done": asIs,
  "response.function_call_arguments.delta": asIs,
  "response.function_call_arguments.done": asIs,
  "response.custom_tool_call_input.delta": asIs,
  "response.completed": responsesEnd,
  "response.incomplete": responsesEnd,
  "response.failed": z.looseObject({ sequence_number: due }),
  error: z.looseObject({ sequence_number: due }),
};

/** https://ai.google.dev/api/generate-content#GenerateContentResponse: its events have no types. */
export const geminiEvents: NeededEvents = {
  "": z.object({
    error: z.unknown().optional(),
    responseId: text,
    candidates: z
      .array(
        z.object({ content: z.unknown().optional(), finishReason: text, finishMessage: text, continuationToken: text }),
      )
      .nullish(),
    usageMetadata: z
      .object({
        promptTokenCount: count,
        candidatesTokenCount: count,
        thoughtsTokenCount: count,
        toolUsePromptTokenCount: count,
        cachedContentTokenCount: count,
        totalTokenCount: count,
      })
      .optional()
      .catch(undefined),
    promptFeedback: z.object({ blockReason: text }).optional().catch(undefined),
  }),
};

const event = z.looseObject({
  type: z.string().catch(""),
  content_block: z.object({ type: z.string() }).optional().catch(undefined),
  delta: z.object({ type: text }).optional().catch(undefined),
  item: z.object({ type: z.string() }).optional().catch(undefined),
});

/**
 * What a library needs of an answer. It refuses an event of which it does not know a type or a field, and with that a whole answer, also where
 * nobody needs it; and an event without an empty line behind it.
 */
export function neededEvents(bytes: AnswerBytes, needed: NeededEvents): AnswerBytes {
  const decoder = new TextDecoder();
  const events = new EventData();
  let last = "";
  return {
    async read() {
      for (;;) {
        const { done, value } = await bytes.read();
        const sent = done ? events.end() : events.take(decoder.decode(value, { stream: true }));
        const kept = sent.flatMap((each) => neededOf(each, needed, { isLast: done }));
        last = kept.at(-1) ?? last;
        // It says nothing more.
        if (done && isStopped.test(last)) kept.push((last = '{"type":"message_stop"}'));
        if (kept.length > 0)
          return { done: false, value: Buffer.from(kept.map((data) => `data: ${data}\n\n`).join("")) };
        if (done) return { done };
      }
    },
    cancel: () => bytes.cancel(),
  };
}

/** Why an answer of Anthropic's ended. */
const isStopped = /^\{"type":"message_delta","delta":\{"stop_reason":"/;

/** None, or its data. What cannot be read is told by the library, unless it was cut off. */
function neededOf({ name, data }: SentEvent, needed: NeededEvents, { isLast = false }): readonly string[] {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return isLast || isSignOfLife(data) ? [] : [data];
  }
  const found = event.safeParse(value);
  if (!found.success) return [data];
  const { type, content_block, delta, item: ofResponse } = found.data;
  const inner = (content_block ?? delta ?? ofResponse)?.type;
  const fields = needed[inner === undefined ? type : `${type} ${inner}`] ?? needed[name];
  const fitted = fields?.safeParse(value);
  if (fitted === undefined) return [];
  return [fitted.success ? JSON.stringify(fitted.data) : data];
}
