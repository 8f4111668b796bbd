import { expect, test } from "vitest";
import { networkCode, providerFailure } from "#answer/provider-failure";
import { readableAnswer } from "#answer/readable-answer";
import { nothingKnown } from "#catalogue/model-facts";
import { resolveEndpoint } from "#model-endpoint";
import { withPathInPlace } from "#request/path-in-place";

// https://learn.microsoft.com/azure/ai-foundry/openai/reference: api-version is a parameter of the query.
test.each([
  ["http://a/v1/chat/completions", "http://a/v1/chat/completions"],
  [
    "https://x.openai.azure.com/openai/deployments/d?api-version=2024-10-21/chat/completions",
    "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21",
  ],
  ["https://x/?v=1/models", "https://x/models?v=1"],
  ["https://g/v1?x=y/models/m:stream?alt=sse", "https://g/v1/models/m:stream?x=y&alt=sse"],
])("%s", (url, want) => {
  expect(withPathInPlace(url)).toBe(want);
});

test("a key with a line break is told of before anything is sent", async () => {
  const known = { of: async () => nothingKnown, headersFor: () => ({}), isNamed: () => false, problem: undefined };
  const asked = resolveEndpoint("openai", { model: "m", baseUrl: "" }, async () => "sk-1\n", {
    known,
    environment: {},
  });
  await expect(asked).rejects.toMatchObject({ code: "not_configured", message: expect.stringContaining("line break") });
});

// https://nodejs.org/api/tls.html#x509-certificate-error-codes
test.each(["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "SELF_SIGNED_CERT_IN_CHAIN"])(
  "%s is about a certificate, and stays so",
  (code) => {
    const context = { baseUrl: "https://a/v1", model: "m", apiKey: "", now: 0 };
    const { error, transient } = providerFailure(Object.assign(new Error(code), { code }), context);
    expect([error.code, transient]).toEqual(["unreachable", false]);
    expect(error.hint).toContain("NODE_EXTRA_CA_CERTS");
  },
);

test("a header that cannot be sent is no fault of the network", () => {
  expect(networkCode(Object.assign(new Error("x"), { code: "ERR_INVALID_CHAR" }))).toBeUndefined();
});

// https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/618
test("LM Studio's answer to a wrong path is none of its faults", async () => {
  const sent = [
    Buffer.from(
      JSON.stringify({ error: "Unexpected endpoint or method. (POST /chat/completions). Returning 200 anyway" }),
    ),
  ];
  const bytes = {
    async read() {
      const value = sent.shift();
      return value === undefined ? { done: true as const, value } : { done: false as const, value };
    },
    cancel() {},
  };
  expect(await readableAnswer({ status: 200, bytes }, "http://127.0.0.1:1234")).toMatchObject({ status: 404 });
});
