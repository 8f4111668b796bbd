import type { Model } from "@gennai/agent/model";
import { modelWires, startModelServer } from "@gennai/testkit/model-server/model-server";
import { describe, expect, test } from "vitest";
import { quickMakers } from "./makers.ts";
import { requestWith } from "./request-with.ts";
import { testEndpoint } from "./test-endpoint.ts";

const makers = quickMakers(20_000);

describe.each(["openai-compatible", "ollama", "openai", "anthropic", "gemini"] as const)("%s", (backend) => {
  const connect = (baseUrl: string) =>
    makers[backend]({
      ...testEndpoint({ baseUrl, model: "m", apiKey: "key-0123456789abcdef" }),
      headers: { "x-gateway-key": "gateway-0123456789" },
    });

  test.each([301, 302, 303, 307, 308])("a redirection (%d) to another server gets nothing", async (status) => {
    await using other = await startModelServer(modelWires[backend], () => ({ text: ["Caught."] }));
    await using named = await startModelServer(modelWires[backend], () => ({
      status,
      message: "over there",
      headers: { location: `${other.baseUrl.replace("//", "//name:word@")}/caught?key=0123456789abcdef` },
    }));

    const error = await failureOf(connect(named.baseUrl));

    expect(other.requests).toEqual([]);
    expect(named.requests).toHaveLength(1);
    expect(error).toMatchObject({ name: "ModelError", code: "not_configured", retryable: false });
    expect(String(error)).toContain(`${new URL(named.baseUrl).origin} sends requests on to ${other.baseUrl}/caught (`);
    expect(String(error)).not.toContain("0123456789");
    expect(String(error)).not.toContain("word@");
  });

  test("a redirection to nowhere is told, too", async () => {
    await using named = await startModelServer(modelWires[backend], () => ({
      status: 307,
      message: "",
      headers: { location: "http://[" },
    }));
    expect(String(await failureOf(connect(named.baseUrl)))).toContain("sends requests on to an invalid address");
  });
});

async function failureOf(model: Model): Promise<unknown> {
  const request = requestWith();
  try {
    for await (const event of model.stream(request, { signal: new AbortController().signal })) void event;
    return undefined;
  } catch (error) {
    return error;
  }
}
