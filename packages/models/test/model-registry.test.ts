import { describe, expect, it } from "vitest";
import { nothingKnown } from "#catalogue/model-facts";
import { ModelKeys } from "#catalogue/model-keys";
import type { ModelKnowledge } from "#model-endpoint";
import { createModel, type ModelSettings } from "#model-registry";

/** Keys from these variables alone: no keychain of the machine. */
function keysFrom(environment: Record<string, string>) {
  const keys = new ModelKeys({ environment, platform: "linux", run: () => Promise.reject(new Error("no keychain")) });
  return (backend: Parameters<typeof keys.find>[0]) =>
    keys.find(backend, {
      origin: "https://models.example",
      isKnown: true,
      takesServersKeys: true,
      takesGeneralKey: true,
    });
}

const nothing: ModelKnowledge = {
  known: { of: () => Promise.resolve(nothingKnown), headersFor: () => ({}) },
  environment: {},
};

describe("createModel", () => {
  it.each<[ModelSettings, Record<string, string>, string]>([
    [{ backend: "offline", model: "", baseUrl: "" }, {}, "offline/gennai"],
    [{ backend: "ollama", model: "qwen3", baseUrl: "" }, {}, "ollama/qwen3"],
    [{ backend: "openai", model: "gpt", baseUrl: "" }, { OPENAI_API_KEY: "k" }, "openai/gpt"],
    [{ backend: "anthropic", model: "claude", baseUrl: "" }, { ANTHROPIC_API_KEY: "k" }, "anthropic/claude"],
    [{ backend: "gemini", model: "gem", baseUrl: "" }, { GOOGLE_API_KEY: "k" }, "gemini/gem"],
    [{ backend: "openai-compatible", model: "a/b", baseUrl: "http://127.0.0.1:1/v1/" }, {}, "openai-compatible/a/b"],
    [{ backend: "editor", model: "copilot/x", baseUrl: "" }, {}, "editor/copilot/x"],
  ])("makes %j", async (settings, env, id) => {
    expect((await createModel(settings, keysFrom(env), nothing)).id).toBe(id);
  });

  it.each<[ModelSettings, string]>([
    [{ backend: "anthropic", model: "x", baseUrl: "" }, "ANTHROPIC_API_KEY"],
    [{ backend: "gemini", model: "x", baseUrl: "" }, "GEMINI_API_KEY"],
    [{ backend: "anthropic", model: "", baseUrl: "" }, "Choose one of its models"],
    [{ backend: "scripted", model: "", baseUrl: "" }, "--model"],
    [{ backend: "ollama", model: "", baseUrl: "" }, "Choose one of its models"],
    [{ backend: "openai", model: "gpt", baseUrl: "" }, "OPENAI_API_KEY"],
    [{ backend: "openai-compatible", model: "x", baseUrl: "" }, "Give the address"],
    [{ backend: "openai-compatible", model: "x", baseUrl: "file:///etc" }, "Give the address"],
    [
      { backend: "openai-compatible", model: "x", baseUrl: "https://me:secret@example.org/v1" },
      "set the key by itself",
    ],
  ])("says what is missing for %j", async (settings, hint) => {
    const error = await createModel(settings, keysFrom({}), nothing).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "ModelError", code: "not_configured", hint: expect.stringContaining(hint) });
    expect(String(error)).not.toContain("secret@");
  });
});
