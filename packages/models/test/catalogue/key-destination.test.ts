import { expect, test } from "vitest";
import { keyDestination } from "#catalogue/key-destination";

const defaults = { backend: "openai-compatible", baseUrl: "https://gateway.example/team/v1" } as const;
const known = { isNamed: (url: string) => url.startsWith("https://named.example/") };

test.each([
  ["openai", "https://api.openai.com/v1", true],
  ["ollama", "http://127.0.0.1:11434/v1", false],
  ["openai-compatible", "https://gateway.example/v1", true],
  ["openai-compatible", "https://named.example/v1", true],
  ["openai-compatible", "http://gateway.example/team/v1", false],
  ["openai-compatible", "https://gateway.example:8443/v1", false],
  ["openai-compatible", "https://gateway.example.evil.example/v1", false],
  ["openai-compatible", "https://api.openai.com/v1", false],
  ["openai", "https://gateway.example/v1", false],
  ["anthropic", "http://127.0.0.1:9/v1", false],
] as const)("of %s, %s is a known place: %s", (backend, baseUrl, isKnown) => {
  const typed = keyDestination({ backend, baseUrl }, { defaults, known, handedKeyOnly: true });
  expect(typed).toMatchObject({ isKnown, takesServersKeys: isKnown });
  const named = keyDestination({ backend, baseUrl }, { defaults, known, handedKeyOnly: false });
  expect(named).toMatchObject({ isKnown, takesServersKeys: true });
});

test.each(["", "no address", "file:///etc/passwd", "javascript:0"])("%j gets no key", (baseUrl) => {
  const options = { defaults, known, handedKeyOnly: false };
  expect(keyDestination({ backend: "openai-compatible", baseUrl }, options)).toBeUndefined();
});

test.each([
  ["openai", "https://api.openai.com/v1", { backend: "openai", baseUrl: "" }, true],
  ["openai", "https://api.openai.com/v1", { backend: "anthropic", baseUrl: "" }, false],
  ["openai", "https://api.openai.com/v1", { backend: "offline", baseUrl: "" }, false],
  ["ollama", "http://127.0.0.1:11434/v1", { backend: "openai", baseUrl: "" }, false],
  ["ollama", "http://127.0.0.1:11434/v1", { backend: "ollama", baseUrl: "http://127.0.0.1:11434/v1" }, true],
  ["openai-compatible", "https://gateway.example/v1", defaults, true],
  ["openai-compatible", "https://named.example/v1", defaults, true],
] as const)("of %s, %s takes the key without a provider of a server with %j: %s", (backend, baseUrl, server, takes) => {
  const place = keyDestination({ backend, baseUrl }, { defaults: server, known, handedKeyOnly: false });
  expect(place?.takesGeneralKey).toBe(takes);
});
