import { expect, test } from "vitest";
import { countedText, modelEvents, modelMessages, parseModelRequest } from "../../src/chat/model-request.ts";

const call = { id: "1", name: "Read", argumentsJson: '{"path":"a"}' };

test("a conversation becomes what the editor's model takes", () => {
  const request = parseModelRequest(
    JSON.stringify({
      system: "Be brief.",
      messages: [
        { role: "user", text: "look", images: [Buffer.from([0x89, 0x50]).toString("base64")] },
        { role: "assistant", text: "", toolCalls: [call, { ...call, id: "2", argumentsJson: "not json" }] },
        { role: "tool", id: "1", name: "Read", output: "a", isError: false },
        { role: "tool", id: "2", name: "Read", output: "no", isError: true },
      ],
      tools: [{ name: "Read", description: "reads", inputSchema: { type: "object" } }],
      enableThinking: true,
      maxOutputTokens: 0,
    }),
  );
  expect(modelMessages(request)).toEqual([
    {
      role: "user",
      parts: [
        { type: "text", text: "Be brief." },
        { type: "text", text: "look" },
        { type: "image", bytes: Uint8Array.of(0x89, 0x50), mediaType: "image/png" },
      ],
    },
    {
      role: "assistant",
      parts: [
        { type: "tool-call", id: "1", name: "Read", input: { path: "a" } },
        { type: "tool-call", id: "2", name: "Read", input: { arguments: "not json" } },
      ],
    },
    {
      role: "user",
      parts: [
        { type: "tool-result", id: "1", output: "a" },
        { type: "tool-result", id: "2", output: "Error: no" },
      ],
    },
  ]);
});

test("an image goes along by itself, and does not count as text", () => {
  const image = Buffer.alloc(3_000_000, 1).toString("base64");
  const request = parseModelRequest(
    JSON.stringify({ system: "", messages: [{ role: "user", text: "", images: [image] }], tools: [] }),
  );
  const [message] = modelMessages(request);
  expect(message?.parts.map(({ type }) => type)).toEqual(["image"]);
  expect(countedText(request).length).toBeLessThan(200);
  expect(countedText(request)).toContain('"role":"user"');
});

test("an answer becomes events", () => {
  const parts = [
    { type: "text", text: "I " },
    { type: "text", text: "look" },
    { type: "tool-call", id: "1", name: "Read", input: { path: "a" } },
  ] as const;
  expect(modelEvents(parts, { inputTokens: 3, outputTokens: 2 })).toEqual([
    { type: "text-delta", text: "I look" },
    { type: "tool-call-start", id: "1", name: "Read" },
    { type: "tool-call", ...call },
    { type: "usage", inputTokens: 3, outputTokens: 2 },
    { type: "finish", reason: "tool-calls" },
  ]);
  expect(modelEvents([], { inputTokens: 0, outputTokens: 0 }).at(-1)).toEqual({ type: "finish", reason: "stop" });
});

test.each([
  "",
  "[]",
  "{}",
  '{"system":1,"messages":[],"tools":[]}',
  '{"system":"","messages":[{"role":"system"}],"tools":[]}',
])("%j is refused", (json) => {
  expect(() => parseModelRequest(json)).toThrowError(expect.objectContaining({ code: "model_refused" }));
});
