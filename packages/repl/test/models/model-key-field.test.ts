// @vitest-environment happy-dom
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ModelKeyField } from "#models/model-key-field.tsx";

let root: HTMLElement;
beforeEach(() => {
  root = document.createElement("div");
  document.body.append(root);
});
afterEach(() => {
  render(null, root);
  root.remove();
});

function show(provider: { backend: "openai-compatible" | "anthropic"; baseUrl: string; hasKey: boolean }): void {
  const whole = { ...provider, needsKey: provider.backend === "anthropic", models: [], problem: "", hint: "" };
  void act(() =>
    render(h(ModelKeyField, { provider: whole, isKept: false, busy: false, onKey: async () => true }), root),
  );
}

test("a key of a server of one's own is shown with the only address that gets it, before and after it is set", async () => {
  const there = { backend: "openai-compatible", baseUrl: "http://models.example:8000/v1" } as const;
  show({ ...there, hasKey: true });
  expect(root.textContent).toContain("It is sent only to http://models.example:8000.");
  render(null, root);
  show({ ...there, hasKey: false });
  expect(root.textContent).not.toContain("models.example");
  await act(() => root.querySelector("button")?.click());
  expect(root.querySelector("#model-key-place")?.textContent).toContain(
    "It is sent only to http://models.example:8000.",
  );
});

test("of a provider that all know no address is said", () => {
  show({ backend: "anthropic", baseUrl: "https://api.anthropic.com/v1", hasKey: false });
  expect(root.querySelector("#model-key-place")?.textContent).not.toContain("api.anthropic.com");
});
