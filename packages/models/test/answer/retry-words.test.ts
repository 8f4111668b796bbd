import { ModelError } from "@gennai/agent/model";
import { expect, test } from "vitest";
import { askingAgain, lastFailure } from "#answer/retry-words";

test.each([
  ["no reason given", "no reason given. Asking again in 20 s (request 2 of 10)."],
  ["The server is busy.", "The server is busy. Asking again in 20 s (request 2 of 10)."],
  ["Why not?", "Why not? Asking again in 20 s (request 2 of 10)."],
])("what a server says ends before we go on: %s", (message, said) => {
  const error = new ModelError("unreachable", message);
  expect(askingAgain(error, { delay: 19_001, attempt: 2, most: 10 })).toBe(said);
});

test("a short wait is told without figures, and the last failure says what to do", () => {
  const error = new ModelError("unreachable", "no reason given", { retryable: true });
  expect(askingAgain(error, { delay: 999, attempt: 2, most: 3 })).toContain("again in a moment (");
  const last = lastFailure(error, 3);
  expect([last.message, last.hint, last.retryable]).toEqual([
    "no reason given. That was the last of 3 requests.",
    "Try again later.",
    true,
  ]);
});
