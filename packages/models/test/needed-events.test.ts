import { expect, test } from "vitest";
import { askAt, eventStream, type Format, framesOf, rawServer } from "./every-format.ts";

const answer = { text: ["Hello ", "there."], calls: [{ id: "c1", name: "Read", arguments: { path: "a" } }] };
const whole = {
  text: "Hello there.",
  calls: ['Read {"path":"a"}'],
  finish: "tool-calls",
  error: undefined,
  requests: 1,
};
type Json = Record<string, unknown>;

/** All data of all events changed, and what is between them. */
function changed(format: Format, change: (event: Json) => readonly (object | string)[]): string {
  return framesOf(format, answer)
    .flatMap((frame) => change(JSON.parse(frame.replace(/^(?:event: .*\n)?data: /, ""))))
    .map((event) => (typeof event === "string" ? event : `data: ${JSON.stringify(event)}\n\n`))
    .join("");
}

const within = (value: unknown, edit: (inner: Json) => void): void => {
  if (typeof value !== "object" || value === null) return;
  edit(value as Json);
  for (const inner of Object.values(value)) within(inner, edit);
};
const edited = (edit: (inner: Json) => void) => (event: Json) => {
  within(event, edit);
  return [event];
};
const withUsage = (usage: unknown) =>
  edited((inner) => {
    for (const name of ["usage", "usageMetadata"]) if (name in inner) inner[name] = usage;
  });
const without = (name: string) => edited((inner) => void delete inner[name]);
const odd = { type: "telemetry", speed: 3 };

test.each<readonly [Format, string, string]>([
  // https://platform.claude.com/docs/en/build-with-claude/streaming#ping-events and "Error events": unknown types are to be passed over.
  ["anthropic", "events of unknown types", changed("anthropic", (event) => [odd, event])],
  ["anthropic", "a sign of life in words", changed("anthropic", (event) => ["data: ping\n\n", event])],
  ["anthropic", "no last event", changed("anthropic", (event) => (event["type"] === "message_stop" ? [] : [event]))],
  ["anthropic", "no usage", changed("anthropic", without("usage"))],
  ["anthropic", "usage that is no object", changed("anthropic", withUsage(null))],
  [
    "anthropic",
    "numbers as text",
    changed("anthropic", withUsage({ input_tokens: "12", output_tokens: "3", iterations: "x" })),
  ],
  [
    "anthropic",
    "blocks and deltas of unknown types",
    changed("anthropic", (event) =>
      event["type"] === "message_delta"
        ? [
            { type: "content_block_start", index: 9, content_block: { type: "weather" } },
            { type: "content_block_delta", index: 9, delta: { type: "rain_delta" } },
            { type: "content_block_stop", index: 9 },
            event,
          ]
        : [event],
    ),
  ],
  [
    "anthropic",
    "another kind of what nobody needs",
    changed(
      "anthropic",
      edited((inner) => {
        if ("stop_sequence" in inner) Object.assign(inner, { stop_details: 5, container: "c", model: 7, role: 3 });
      }),
    ),
  ],
  // https://platform.openai.com/docs/api-reference/responses-streaming
  ["openai", "events of unknown types", changed("openai", (event) => [{ type: "response.weather" }, event])],
  [
    "openai",
    "annotations of another kind",
    changed("openai", (event) => [{ type: "response.output_text.annotation.added", annotation: { type: "x" } }, event]),
  ],
  ["openai", "usage of another kind", changed("openai", withUsage({ input_tokens: "12", output_tokens: 3 }))],
  ["openai", "no usage", changed("openai", without("usage"))],
  [
    "openai",
    "items of unknown types",
    changed("openai", (event) =>
      event["type"] === "response.completed"
        ? [
            { type: "response.output_item.added", output_index: 8, item: { type: "weather" } },
            { type: "response.output_item.done", output_index: 8, item: { type: "weather" } },
            event,
          ]
        : [event],
    ),
  ],
  // https://ai.google.dev/api/generate-content#GenerateContentResponse
  ["gemini", "no usage", changed("gemini", without("usageMetadata"))],
  ["gemini", "usage that is no object", changed("gemini", withUsage("12"))],
  ["gemini", "events that are no part of an answer", changed("gemini", (event) => [{ ping: 1 }, event])],
  ...(["anthropic", "openai", "gemini"] as const).map(
    (format) => [format, "no empty line behind its last event", changed(format, (event) => [event]).trimEnd()] as const,
  ),
])("%s: an answer with %s counts", async (format, _what, body) => {
  await using server = await rawServer((response) => void response.writeHead(200, eventStream).end(body));
  expect(await askAt(format, server)).toMatchObject(whole);
});
