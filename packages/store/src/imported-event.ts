import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { BlobRef } from "@gennai/protocol/model/session/proposal";
import * as z from "zod";

/** Characters of one text. */
const maxText = 16 * 1024 * 1024;

const text = z.string().max(maxText);
const id = z.string().max(200);
const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const blob = z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/), size: count, mediaType: z.string().max(100) });
const state = z.enum([
  "started",
  "thinking",
  "run-tool",
  "waiting-tool-result",
  "completed",
  "error",
  "cancelled",
  "interrupted",
]);
/** Of what a server told the model: its own words are short, those about a call hold what a check printed. */
const note = z.string().max(2_000);
const callNote = z.string().max(20_000);
const todo = z.object({
  id,
  content: text,
  status: z.enum(["pending", "in_progress", "completed"]),
  priority: z.enum(["low", "medium", "high"]),
  created: id,
  updated: id,
});

const conversation = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("user-message"),
    text,
    scenario: id,
    clientTurnId: id,
    enableThinking: z.boolean(),
    images: z.array(blob).max(100),
    messageId: z.exactOptional(id),
  }),
  z.object({
    type: z.literal("turn-continued"),
    continuedTurnId: id,
    scenario: id,
    clientTurnId: id,
    enableThinking: z.boolean(),
  }),
  z.object({ type: z.literal("status"), state, iteration: count, toolCallId: z.exactOptional(id) }),
  z.object({ type: z.literal("thinking-delta"), text }),
  z.object({ type: z.literal("text-delta"), text }),
  z.object({ type: z.literal("tool-call"), id, name: id, argumentsJson: text }),
  z.object({
    type: z.literal("tool-result"),
    id,
    name: id,
    output: text,
    error: z.exactOptional(text),
    truncated: z.boolean(),
    outputBlob: z.exactOptional(blob),
    wholeOutput: z.exactOptional(blob),
    images: z.exactOptional(z.array(blob).max(100)),
    exitCode: z.exactOptional(z.int()),
  }),
  z.object({
    type: z.literal("final"),
    text,
    thinking: text,
    inputTokens: count,
    outputTokens: count,
    modelId: id,
    maxContextTokens: count,
  }),
  // Without it, the conversation would have the half answers that were dropped from it.
  z.object({ type: z.literal("answer-dropped"), reason: note }),
  z.object({ type: z.literal("model-note"), text: note }),
  z.object({ type: z.literal("call-note"), toolCallId: id, text: callNote }),
  z.object({ type: z.literal("warning"), text }),
  z.object({ type: z.literal("error"), code: id, message: text, hint: z.exactOptional(text), retryable: z.boolean() }),
  z.object({ type: z.literal("todos-changed"), items: z.array(todo).max(10_000) }),
]);

/**
 * What an event of a bundle becomes here; undefined when nothing is taken of it. Only what was said is: nothing about what was
 * decided, changed, approved or seen of files, which nobody here did.
 *
 * @param hasBlob contents that came along and are what their digest says
 */
export function importedEvent(
  value: unknown,
  hasBlob: (blob: BlobRef) => boolean,
  newTurnId: string,
): SessionEvent | undefined {
  const parsed = conversation.safeParse(value);
  if (!parsed.success || isSubAgents(value)) return undefined;
  const event = parsed.data;
  switch (event.type) {
    case "user-message":
      return {
        ...event,
        clientTurnId: event.messageId === undefined ? newTurnId : "",
        images: event.images.filter(hasBlob),
      };
    case "tool-result": {
      const { outputBlob, wholeOutput, images, ...rest } = event;
      const kept = outputBlob !== undefined && hasBlob(outputBlob) ? { outputBlob } : {};
      const whole = wholeOutput !== undefined && hasBlob(wholeOutput) ? { wholeOutput } : {};
      const shown = images === undefined ? {} : { images: images.filter(hasBlob) };
      return { ...rest, ...kept, ...whole, ...shown, verification: "unverified", observed: [] };
    }
    default:
      return event;
  }
}

function isSubAgents(value: unknown): boolean {
  return typeof value === "object" && value !== null && "parentToolCallId" in value;
}
