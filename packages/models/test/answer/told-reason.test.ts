import { expect, it } from "vitest";
import { toldReason } from "#answer/told-reason";

const invalid = { type: "extra_forbidden", loc: ["body", "stream_options"], msg: "Extra inputs are not permitted" };

it.each<[string, unknown, string]>([
  ["a text", "busy", "busy"],
  ["OpenAI's form", { error: { message: "no such field", type: "invalid_request_error" } }, "no such field"],
  ["an error that is a text", { error: "model not loaded", error_type: "x" }, "model not loaded"],
  // https://ai.google.dev/gemini-api/docs/openai
  [
    "Google's list",
    [{ error: { code: 400, message: "API key not valid.", status: "INVALID_ARGUMENT" } }],
    "API key not valid.",
  ],
  // https://fastapi.tiangolo.com/tutorial/handling-errors/
  ["FastAPI's text", { detail: "Not Found" }, "Not Found"],
  [
    "FastAPI's fields",
    { detail: [invalid, { ...invalid, loc: ["body", "tools", 0] }] },
    "body.stream_options: Extra inputs are not permitted; body.tools.0: Extra inputs are not permitted",
  ],
  // https://docs.mistral.ai/api/
  [
    "Mistral's",
    { object: "error", message: { detail: [invalid] }, code: null },
    "body.stream_options: Extra inputs are not permitted",
  ],
  // https://openrouter.ai/docs/api/reference/errors-and-debugging
  [
    "what is behind OpenRouter",
    {
      error: {
        message: "Provider returned error",
        code: 400,
        metadata: { raw: "Upstream is down", provider_name: "X" },
      },
    },
    "Provider returned error: Upstream is down",
  ],
  [
    "JSON behind OpenRouter",
    {
      error: {
        message: "Provider returned error",
        metadata: { raw: '{"error":{"code":400,"message":"Corrupted thought signature."}}' },
      },
    },
    "Provider returned error: Corrupted thought signature.",
  ],
  ["JSON in words", { error: { message: '{"error":{"message":"deep"}}' } }, "deep"],
  // https://developers.cloudflare.com/api/
  ["Cloudflare's", { success: false, errors: [{ code: 7003, message: "No route" }] }, "No route"],
  // https://www.rfc-editor.org/rfc/rfc9457
  ["a problem with a title alone", { title: "Too large", status: 413 }, "Too large"],
  ["a body as text", '{"error":{"message":"as text"}}', "as text"],
  ["nothing", { code: 5 }, ""],
  ["null", null, ""],
])("finds the words of %s", (_name, told, words) => {
  expect(toldReason(told)).toBe(words);
});

it("ends with an object that holds texts without an end", () => {
  let nested = "deep";
  for (let level = 0; level < 12; level += 1) nested = JSON.stringify({ error: nested });
  expect(typeof toldReason(nested)).toBe("string");
});
