import { ModelError, type ModelEvent, type ModelRequest } from "@gennai/agent/model";
import { expect, test } from "vitest";
import { EditorModel } from "#editor-model";
import { requestWith } from "./request-with.ts";

const request: ModelRequest = requestWith({
  system: "s",
  messages: [{ role: "user", text: "hi", images: [Uint8Array.of(1, 2)] }],
});
const { signal } = new AbortController();

async function eventsOf(model: EditorModel): Promise<readonly ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream(request, { signal })) events.push(event);
  return events;
}

test("the request goes as JSON, the answer comes as events", async () => {
  let asked: unknown;
  const answer = [
    { type: "text-delta", text: "hello" },
    { type: "usage", inputTokens: 1, outputTokens: 2 },
    { type: "finish", reason: "stop" },
  ];
  const model = new EditorModel("copilot/x", async (json) => {
    asked = JSON.parse(json);
    return JSON.stringify(answer);
  });
  expect(await eventsOf(model)).toEqual(answer);
  expect(asked).toEqual({
    model: "copilot/x",
    system: "s",
    messages: [{ role: "user", text: "hi", images: ["AQI="] }],
    tools: [],
    maxOutputTokens: 0,
  });
});

test.each([
  "",
  "{}",
  "[]",
  '[{"type":"finish"}]',
  '[{"type":"finish","reason":"stop"},{"type":"text-delta","text":"late"}]',
  '[{"type":"text-delta","text":"no end"}]',
])("%j is not an answer", async (json) => {
  await expect(eventsOf(new EditorModel("", async () => json))).rejects.toMatchObject({ code: "bad_response" });
});

test("outside a turn there is nobody to ask", async () => {
  const failed = eventsOf(new EditorModel("", undefined));
  await expect(failed).rejects.toBeInstanceOf(ModelError);
  await expect(failed).rejects.toMatchObject({ code: "not_configured", hint: expect.stringContaining("VS Code") });
});
