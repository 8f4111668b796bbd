import { createHash } from "node:crypto";
import type { ModelAnswer, ModelRefusal } from "@gennai/testkit/model-server/model-answer";
import type { ReceivedModelRequest } from "@gennai/testkit/model-server/model-server";
import * as z from "zod";
import { list } from "./wire-world.ts";

const messageSchema = z.object({ role: z.string(), content: z.union([z.string(), z.array(z.looseObject({}))]) });
const thinkingSchema = z.object({
  type: z.string().optional(),
  block_binding: z.object({ prefix_mismatch_behavior: z.enum(["drop_block", "error"]) }).optional(),
});

/** What the rule made of one request. */
export interface BoundRequest {
  /** Blocks of thinking that were taken back, and that were dropped. */
  readonly kept: number;
  readonly dropped: number;
  readonly refusal: ModelRefusal | undefined;
  /** For the next block that the model thinks. */
  readonly signature: string;
}

/**
 * Preserved thinking, as https://platform.claude.com/docs/en/build-with-claude/preserved-thinking has it: a block is bound to the
 * system prompt, the tools and the messages before it. Where these are others the request is refused, unless it asked that such a block
 * be dropped, with the header that allows to ask: https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/fix-bound-to-a-different-conversation
 */
export function bind({ body, headers }: ReceivedModelRequest): BoundRequest {
  const { block_binding: binding } = thinkingSchema.parse(body["thinking"] ?? {});
  const refused = (message: string): BoundRequest => ({
    kept,
    dropped,
    signature: "",
    refusal: { status: 400, message },
  });
  let [kept, dropped] = [0, 0];
  if (binding !== undefined && !String(headers["anthropic-beta"]).includes("thinking-binding-controls-2026-08-01"))
    return refused("thinking.block_binding: Extra inputs are not permitted");
  const prefix = createHash("sha256").update(plain([body["tools"], body["system"]]));
  const signatureHere = () => prefix.copy().digest("base64");
  for (const [index, message] of list(body["messages"]).entries()) {
    const { role, content } = messageSchema.parse(message);
    prefix.update(role);
    for (const [at, block] of (typeof content === "string" ? [content] : content).entries()) {
      const isThinking = typeof block === "object" && block["type"] === "thinking";
      if (!isThinking) prefix.update(plain(block));
      else if (block["signature"] === signatureHere()) kept += 1;
      else if (binding?.prefix_mismatch_behavior === "drop_block") dropped += 1;
      else
        return refused(
          `messages.${index}.content.${at}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".`,
        );
    }
  }
  prefix.update("assistant");
  return { kept, dropped, refusal: undefined, signature: signatureHere() };
}

/** The answer with a block of thinking bound to what was asked; or the refusal. */
export function boundAnswer(bound: BoundRequest, answer: ModelAnswer): ModelAnswer | ModelRefusal {
  return bound.refusal ?? { ...answer, signature: bound.signature };
}

/** Marks for the cache are no part of what is said. */
function plain(value: unknown): string {
  return JSON.stringify(value, (key, inner: unknown) => (key === "cache_control" ? undefined : inner)) ?? "";
}
