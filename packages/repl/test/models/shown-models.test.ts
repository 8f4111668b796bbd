import type { ProviderChoice } from "@gennai/client/host/model-choices";
import { expect, test } from "vitest";
import { shownModels } from "#models/shown-models";

const facts = { contextTokens: 200_000, thinking: true, images: false, prices: undefined };
const provider = (choice: Pick<ProviderChoice, "backend"> & Partial<ProviderChoice>, ...models: readonly string[]) => ({
  baseUrl: "",
  needsKey: false,
  hasKey: false,
  problem: "",
  hint: "",
  models: models.map((model) => ({ model, ...facts })),
  ...choice,
});

const providers = [
  provider({ backend: "anthropic", needsKey: true }, "claude-opus", "claude-sonnet"),
  provider({ backend: "gemini", needsKey: true, hasKey: true, baseUrl: "https://gemini.test" }, "gemini-pro"),
  provider({ backend: "ollama", baseUrl: "http://127.0.0.1:11434/v1" }, "qwen3"),
];
const names = (text: string, backend?: "anthropic" | "ollama" | "editor") =>
  shownModels(providers, { text, backend }).map(({ backend: of, name }) => `${of}: ${name}`);

test("what can be used at once stands first, and no script is offered", () => {
  expect(names("")).toEqual([
    "gemini: gemini-pro",
    "ollama: qwen3",
    "anthropic: claude-opus",
    "anthropic: claude-sonnet",
    "offline: No language model",
  ]);
});

test("models for this work stand before others, and those that stay before previews", () => {
  const many = provider(
    { backend: "gemini", hasKey: true },
    "gemini-robotics-er",
    "gemini-pro-preview",
    "gemini-pro",
    "gemini-tts",
    "gemini-flash-2026-08-01",
  );
  expect(shownModels([many], { text: "", backend: "gemini" }).map(({ name }) => name)).toEqual([
    "gemini-pro",
    "gemini-pro-preview",
    "gemini-flash-2026-08-01",
    "gemini-robotics-er",
    "gemini-tts",
  ]);
});

test("a search takes words of the name and the provider, in any order", () => {
  expect(names("sonnet ANTHROPIC")).toEqual(["anthropic: claude-sonnet"]);
  expect(names("google")).toEqual(["gemini: gemini-pro"]);
  expect(names("no such")).toEqual([]);
});

test("a name that no list has can be chosen from the provider that is looked at", () => {
  expect(names("llama9", "ollama")).toEqual(["ollama: llama9"]);
  expect(names("qwen3", "ollama")).toEqual(["ollama: qwen3"]);
  expect(names("llama9", "editor")).toEqual([]);
});

test("only a server of one's own keeps its address, and a key is lacking where one is needed", () => {
  const found = shownModels(providers, { text: "", backend: undefined });
  expect(found.map(({ baseUrl, lacksKey }) => [baseUrl, lacksKey])).toEqual([
    ["", false],
    ["http://127.0.0.1:11434/v1", false],
    ["", true],
    ["", true],
    ["", false],
  ]);
  expect(found[0]?.facts).toBe("200k tokens · thinks");
});
