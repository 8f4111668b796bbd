import * as z from "zod";
import type { AnswerBytes } from "./answer-bytes.ts";
import { EventData, isSignOfLife, type SentEvent } from "./event-data.ts";

const text = z.string().optional().catch(undefined);
const count = z.coerce.number().nonnegative().optional().catch(undefined);
const due = z.coerce.number().nonnegative().catch(0);
const asIs = z.looseObject({});

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

/**
 * All events of the formats of OpenAI and Google, whose libraries pass over what they do not know: only how many tokens were used must be
 * numbers, or missing. https://platform.openai.com/docs/api-reference/responses-streaming,
 * https://ai.google.dev/api/generate-content#GenerateContentResponse
 */
const counted = z.looseObject({
  response: z
    .looseObject({
      usage: z
        .looseObject({ input_tokens: z.coerce.number(), output_tokens: z.coerce.number() })
        .optional()
        .catch(undefined),
    })
    .optional(),
  usageMetadata: asIs.optional().catch(undefined),
});

const event = z.looseObject({
  type: z.string().catch(""),
  content_block: z.object({ type: z.string() }).optional().catch(undefined),
  delta: z.object({ type: text }).optional().catch(undefined),
});

/**
 * What a library needs of an answer. It refuses an event of which it does not know a type or a field, and with that a whole answer, also where
 * nobody needs it; and an event without an empty line behind it.
 */
export function neededEvents(bytes: AnswerBytes, needed: NeededEvents | undefined): AnswerBytes {
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
function neededOf({ data }: SentEvent, needed: NeededEvents | undefined, { isLast = false }): readonly string[] {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return isLast || isSignOfLife(data) ? [] : [data];
  }
  const found = event.safeParse(value);
  if (!found.success) return [data];
  const { type, content_block, delta } = found.data;
  // What it quotes is not shown.
  if (needed === undefined && type.includes(".annotation.")) return [];
  const inner = (content_block ?? delta)?.type;
  const fields = needed === undefined ? counted : needed[inner === undefined ? type : `${type} ${inner}`];
  const fitted = fields?.safeParse(value);
  if (fitted === undefined) return [];
  return [fitted.success ? JSON.stringify(fitted.data) : data];
}
