import { createModel, type ModelSettings } from "@gennai/server/models/model-registry";
import { describe, expect, it } from "vitest";

describe("createModel", () => {
  it.each<[ModelSettings, Record<string, string>, string]>([
    [{ backend: "offline", model: "", baseUrl: "" }, {}, "offline/gennai"],
    [{ backend: "ollama", model: "qwen3", baseUrl: "" }, {}, "ollama/qwen3"],
    [{ backend: "openai", model: "gpt", baseUrl: "" }, { OPENAI_API_KEY: "k" }, "openai/gpt"],
    [{ backend: "openai-compatible", model: "a/b", baseUrl: "http://127.0.0.1:1/v1/" }, {}, "openai-compatible/a/b"],
  ])("makes %j", async (settings, env, id) => {
    expect((await createModel(settings, env)).id).toBe(id);
  });

  it.each<[ModelSettings, string]>([
    [{ backend: "anthropic", model: "x", baseUrl: "" }, "openai-compatible"],
    [{ backend: "gemini", model: "x", baseUrl: "" }, "offline"],
    [{ backend: "editor", model: "x", baseUrl: "" }, "ollama"],
    [{ backend: "scripted", model: "", baseUrl: "" }, "--model"],
    [{ backend: "ollama", model: "", baseUrl: "" }, "--model"],
    [{ backend: "openai", model: "gpt", baseUrl: "" }, "GENNAI_API_KEY"],
    [{ backend: "openai-compatible", model: "x", baseUrl: "" }, "--base-url"],
    [{ backend: "openai-compatible", model: "x", baseUrl: "file:///etc" }, "--base-url"],
    [{ backend: "openai-compatible", model: "x", baseUrl: "https://me:secret@example.org/v1" }, "GENNAI_API_KEY"],
  ])("says what is missing for %j", async (settings, hint) => {
    const error = await createModel(settings, {}).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "ModelError", code: "not_configured", hint: expect.stringContaining(hint) });
    expect(String(error)).not.toContain("secret@");
  });
});
