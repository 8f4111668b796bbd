import { expect, test } from "vitest";
import { saysOverflow } from "#request/overflow-words";
import { overflowExamples } from "./overflow-examples.ts";

test.each(overflowExamples)("%s (%s)", (example) => {
  expect(saysOverflow(example)).toBe(true);
  // As providers wrap it.
  expect(saysOverflow(JSON.stringify({ error: { message: example, type: "invalid_request_error", code: 400 } }))).toBe(
    true,
  );
});

test.each([
  // https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html
  "ThrottlingException: Too many tokens, please wait before trying again.",
  // https://platform.claude.com/docs/en/api/rate-limits
  "This request would exceed your organization's rate limit of 30,000 input tokens per minute.",
  "Too many requests",
  "max_tokens is too large: 200000. This model supports at most 128000 completion tokens.",
  "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
  "messages: text content blocks must be non-empty",
  "Function call is missing a thought_signature",
  "image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes",
])("%s is about something else", (text) => {
  expect(saysOverflow(text)).toBe(false);
});
