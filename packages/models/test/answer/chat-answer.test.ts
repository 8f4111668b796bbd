import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { describe, expect, it } from "vitest";
import { bytesOf } from "#answer/answer-bytes";
import { readChatAnswer } from "#answer/chat-answer";
import { delta, sse } from "../chat-server.ts";

/** What the parts say, without what ends every answer. */
async function read(...chunks: readonly object[]): Promise<readonly LanguageModelV4StreamPart[]> {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(sse(...chunks, delta({}, "stop"), "[DONE]"));
  }
  const parts: LanguageModelV4StreamPart[] = [];
  for await (const part of readChatAnswer(bytesOf(pieces(), () => undefined))) parts.push(part);
  return parts;
}

const call = (piece: object) => delta({ tool_calls: [piece] });

describe("readChatAnswer", () => {
  it("waits for a call's name", async () => {
    const parts = await read(
      call({ index: 0, id: "a", function: { arguments: '{"x":' } }),
      call({ index: 0, function: { name: "Read", arguments: "1" } }),
      call({ index: 0, function: { arguments: "}" } }),
    );
    expect(parts).toContainEqual({ type: "tool-call", toolCallId: "a", toolName: "Read", input: '{"x":1}' });
  });

  it("tells calls without an index apart", async () => {
    const parts = await read(
      call({ id: "a", function: { name: "Read", arguments: "{}" } }),
      call({ id: "b", function: { name: "Read", arguments: "{}" } }),
    );
    expect(parts.flatMap((part) => (part.type === "tool-call" ? part.toolCallId : []))).toEqual(["a", "b"]);
  });

  it("fails for a call that never gets a name", async () => {
    await expect(read(call({ index: 0, id: "a", function: { arguments: "{}" } }))).rejects.toThrow("function.name");
  });

  it("keeps the signature of a call", async () => {
    const signed = { extra_content: { google: { thought_signature: "s" } } };
    const parts = await read(call({ index: 0, id: "a", function: { name: "Read", arguments: "{}" }, ...signed }));
    expect(parts).toContainEqual(
      expect.objectContaining({ type: "tool-call", providerMetadata: { google: { thoughtSignature: "s" } } }),
    );
  });

  it("reads thinking and text among the parts of a content", async () => {
    const thinking = { type: "thinking", thinking: [{ type: "text", text: "Hm." }, { type: "other" }, null] };
    const parts = await read(delta({ content: [thinking, { type: "text", text: "Yes." }, { type: "image" }] }));
    expect(parts.slice(1, -1)).toEqual([
      { type: "reasoning-start", id: "thinking-1" },
      { type: "reasoning-delta", id: "thinking-1", delta: "Hm." },
      { type: "reasoning-end", id: "thinking-1" },
      { type: "text-delta", id: "text", delta: "Yes." },
    ]);
  });

  it("takes a refusal for what is said, and for the reason", async () => {
    const parts = await read(delta({ refusal: "No." }));
    expect(parts).toContainEqual({ type: "text-delta", id: "text", delta: "No." });
    expect(parts.at(-1)).toMatchObject({ type: "finish", finishReason: { unified: "content-filter", raw: "stop" } });
  });

  it("counts what was read from the cache", async () => {
    const usage = { prompt_tokens: 9, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 5 } };
    const parts = await read({ ...delta({}), choices: [], usage });
    expect(parts.at(-1)).toMatchObject({
      usage: { inputTokens: { total: 9, noCache: 4, cacheRead: 5 }, outputTokens: { total: 4 } },
    });
  });
});
