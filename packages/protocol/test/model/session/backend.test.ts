import { expect, expectTypeOf, test } from "vitest";
import { Backend as BackendMessage } from "#gen/gennai/agent/v1/agent_pb";
import {
  type Backend,
  backendLabel,
  backends,
  backendWords,
  isSelfHosted,
  type Provider,
  providerNames,
  publicBackends,
} from "#model/session/backend";

test("every value of the enum but UNSPECIFIED is a backend, and the way back is the same", () => {
  expect(backends.map((word) => backendWords.toMessage(word))).toEqual(
    Object.values(BackendMessage).filter((number) => number !== BackendMessage.UNSPECIFIED),
  );
  expect(backends.map((word) => backendWords.fromMessage(backendWords.toMessage(word)))).toEqual(backends);
  expect(backendWords.toMessage("openai-compatible")).toBe(BackendMessage.OPENAI_COMPATIBLE);
  for (const number of [BackendMessage.UNSPECIFIED, 4711]) expect(backendWords.fromMessage(number)).toBeUndefined();
});

test("types know the names", () => {
  expectTypeOf<Exclude<Backend, Provider>>().toEqualTypeOf<"offline" | "scripted" | "editor">();
  expectTypeOf<"ollama" | "anthropic" | "openai" | "gemini" | "openai-compatible">().toExtend<Provider>();
  expectTypeOf<string>().not.toExtend<Backend>();
});

test.each<[Backend, { readonly provider: boolean; readonly selfHosted: boolean; readonly anybodys: boolean }]>([
  ["offline", { provider: false, selfHosted: false, anybodys: true }],
  ["scripted", { provider: false, selfHosted: false, anybodys: false }],
  ["editor", { provider: false, selfHosted: false, anybodys: true }],
  ["ollama", { provider: true, selfHosted: true, anybodys: false }],
  ["openai-compatible", { provider: true, selfHosted: true, anybodys: false }],
  ["openai", { provider: true, selfHosted: false, anybodys: true }],
  ["anthropic", { provider: true, selfHosted: false, anybodys: true }],
  ["gemini", { provider: true, selfHosted: false, anybodys: true }],
])("what is known of %s", (backend, known) => {
  expect({
    provider: providerNames.some((name) => name === backend),
    selfHosted: isSelfHosted(backend),
    anybodys: publicBackends.includes(backend),
  }).toEqual(known);
});

test("each has a name for people", () => {
  expect(Object.fromEntries(backends.map((backend) => [backend, backendLabel(backend)]))).toEqual({
    ollama: "Ollama",
    anthropic: "Anthropic",
    openai: "OpenAI",
    gemini: "Google Gemini",
    offline: "Built in",
    scripted: "Script",
    "openai-compatible": "Own server",
    editor: "This editor",
  });
});
