import type { Message, Model, ModelEvent } from "@gennai/agent/model";
import type { ModelAnswer, ModelRefusal } from "@gennai/testkit/model-server/model-answer";
import { modelWires, type ReceivedModelRequest, startModelServer } from "@gennai/testkit/model-server/model-server";
import { samplePng } from "@gennai/testkit/sample-images";
import { describe, expect, test } from "vitest";
import { quickMakers } from "../makers.ts";
import { requestWith } from "../request-with.ts";
import { testEndpoint } from "../test-endpoint.ts";

const makers = quickMakers(3_000);
type Backend = Exclude<keyof typeof makers, "ollama">;

const bad = samplePng(3, 1);
const good = samplePng(4, 1);
const gif = Buffer.from("GIF89a\u0001\0\u0001\0", "latin1");
const has = ({ body }: ReceivedModelRequest, image: Uint8Array) =>
  JSON.stringify(body).includes(Buffer.from(image).toString("base64"));

function connect(backend: Backend, baseUrl: string): Model {
  return makers[backend](testEndpoint({ baseUrl, model: "seer-1", apiKey: "key-0123456789abcdef" }));
}

async function ask(model: Model, messages: readonly Message[]): Promise<string> {
  const request = requestWith({ messages });
  const events: ModelEvent[] = [];
  for await (const event of model.stream(request, { signal: new AbortController().signal })) events.push(event);
  return events.flatMap((event) => (event.type === "text-delta" ? [event.text] : [])).join("");
}

/** Refuses each request with the bad image. */
function refusing(backend: Backend, refusal: ModelRefusal) {
  return startModelServer(modelWires[backend], (_count, request): ModelAnswer | ModelRefusal =>
    has(request, bad) ? refusal : { text: ["Here."] },
  );
}

const shown = (image: Uint8Array): Message => ({ role: "user", text: "look", images: [image] });
const read = (image: Uint8Array): readonly Message[] => [
  { role: "user", text: "look" },
  { role: "assistant", text: "", toolCalls: [{ id: "c1", name: "Read", argumentsJson: "{}" }] },
  { role: "tool", id: "c1", name: "Read", output: "[image]", isError: false, images: [image] },
];
const answered: Message = { role: "assistant", text: "Here.", toolCalls: [] };

describe.each(["openai-compatible", "openai", "anthropic", "gemini"] as const)("%s", (backend) => {
  test.each([
    // https://github.com/anthropics/claude-code/issues/1747
    [400, "Could not process image"],
    [400, "Unable to process input image. Please retry or report."],
    // https://github.com/aaif-goose/goose/issues/5396
    [404, "No endpoints found that support image input"],
    [400, "seer-1 is not a multimodal model"],
    [415, "unsupported media: image/png"],
    [422, "messages.0.content: image_url is no known type"],
  ])("a conversation goes on behind an image that was refused: %d %s", async (status, message) => {
    await using server = await refusing(backend, { status, message });
    const model = connect(backend, server.baseUrl);
    for (const start of [[shown(bad)], read(bad)]) {
      const before = server.requests.length;
      expect(await ask(model, start)).toBe("Here.");
      expect(await ask(model, [...start, answered, { role: "user", text: "And now?" }])).toBe("Here.");
      const sent = server.requests.slice(before);
      // A server that takes no images at all is known after the first conversation.
      const refused = sent.filter((request) => has(request, bad)).length;
      expect(refused).toBeLessThanOrEqual(1);
      expect(sent).toHaveLength(2 + refused);
      expect(JSON.stringify(sent.at(-1)?.body)).toMatch(/refused a request with it|this model cannot see images/);
    }
    expect(has(server.requests[0] ?? { url: "", headers: {}, body: {} }, bad)).toBe(true);
  });

  test("other images are shown as before, also in other conversations", async () => {
    await using server = await refusing(backend, { status: 400, message: "Could not process image" });
    const model = connect(backend, server.baseUrl);
    const start = shown(bad);
    await ask(model, [start]);
    await ask(model, [start, answered, shown(good)]);
    await ask(model, [shown(good)]);
    expect(server.requests.map((request) => [has(request, bad), has(request, good)])).toEqual([
      [true, false],
      [false, false],
      [false, true],
      [false, true],
    ]);
  });

  test.each([
    ["another reason", 400, "tools are not supported", 1],
    ["one that stays without images", 400, "this image model takes no tools", 2],
    ["a path that is not there", 404, "not found", 1],
    ["a conversation that is too long", 400, "prompt is too long: 300000 tokens, images included", 1],
  ])("%s ends the request, and no image is lost", async (_name, status, message, requests) => {
    let isOpen = false;
    await using server = await startModelServer(modelWires[backend], () =>
      isOpen ? { text: ["Here."] } : { status, message },
    );
    const model = connect(backend, server.baseUrl);
    const messages = [shown(good)];
    await expect(ask(model, messages)).rejects.toMatchObject({ name: "ModelError" });
    expect(server.requests).toHaveLength(requests);
    isOpen = true;
    await ask(model, messages);
    expect(server.requests.map((request) => has(request, good)).at(-1)).toBe(true);
  });
});

test("a format that a server does not take says nothing about other images", async () => {
  await using server = await refusing("openai-compatible", {
    status: 400,
    message: "This model does not support image/png.",
  });
  const model = connect("openai-compatible", server.baseUrl);
  await ask(model, [shown(bad)]);
  await ask(model, [shown(good)]);
  expect(server.requests.map((request) => has(request, good))).toEqual([false, false, true]);
});

test("Gemini is sent no GIF, but a sentence in its place, and the images beside it", async () => {
  await using server = await startModelServer(modelWires.gemini, () => ({ text: ["Here."] }));
  const model = connect("gemini", server.baseUrl);
  await ask(model, [{ role: "user", text: "look", images: [gif, good] }]);
  await ask(model, read(gif));
  expect(server.requests.map((request) => [has(request, gif), has(request, good)])).toEqual([
    [false, true],
    [false, false],
  ]);
  for (const { body } of server.requests) expect(JSON.stringify(body)).toContain("takes none");

  await using other = await startModelServer(modelWires.anthropic, () => ({ text: ["Here."] }));
  await ask(connect("anthropic", other.baseUrl), [shown(gif)]);
  expect(other.requests.map((request) => has(request, gif))).toEqual([true]);
});

// What was signed holds for one account: https://platform.claude.com/docs/en/build-with-claude/preserved-thinking ("Accounts and cloud
// platforms"), https://github.com/openai/codex/issues/8145, https://github.com/google-gemini/gemini-cli/issues/13467
test.each([
  ["anthropic", "claude-opus-5", "messages.1.content.0: Invalid `signature` in `thinking` block"],
  ["anthropic", "claude-sonnet-4-5", "messages.1.content.0: Invalid `signature` in `thinking` block"],
  ["openai", "gpt-5", "The encrypted content gAAA...DQ== could not be verified."],
  ["gemini", "gemini-3-pro-preview", "Corrupted thought signature."],
] as const)("%s: a conversation with %s goes on without thinking that was refused", async (backend, name, message) => {
  const signature = "c2lnbmVkIGVsc2V3aGVyZQ";
  const signed = ({ body }: ReceivedModelRequest) => JSON.stringify(body).includes(signature);
  let isAnother = false;
  await using server = await startModelServer(modelWires[backend], (count, request): ModelAnswer | ModelRefusal => {
    if (isAnother && signed(request)) return { status: 400, message };
    const call = { id: "c1", name: "Read", arguments: {} };
    return count === 1 ? { thinking: ["Look."], signature, calls: [call] } : { text: ["Here."] };
  });
  const model = makers[backend](testEndpoint({ baseUrl: server.baseUrl, model: name, apiKey: "key-0123456789abcdef" }));
  const request = { system: "", tools: [], enableThinking: true, maxOutputTokens: 0 };
  const begin: Message = { role: "user", text: "look" };
  const { signal } = new AbortController();
  const events = await Array.fromAsync(model.stream({ ...request, messages: [begin] }, { signal }));
  const toolCalls = events.flatMap((event) => (event.type === "tool-call" ? [event] : []));
  const messages: readonly Message[] = [
    begin,
    { role: "assistant", text: "", toolCalls },
    { role: "tool", id: "c1", name: "Read", output: "one", isError: false },
  ];
  isAnother = true;
  await ask(model, messages);
  await ask(model, [...messages, answered, { role: "user", text: "And now?" }]);
  expect(server.requests.map(signed)).toEqual([false, true, false, false]);
});
