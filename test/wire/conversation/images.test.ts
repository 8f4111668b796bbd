import { join } from "node:path";
import type { ReceivedModelRequest } from "@gennai/testkit/model-server/model-server";
import { samplePng } from "@gennai/testkit/sample-images";
import { describe, expect, test } from "vitest";
import { endState, runTurn, startSession } from "../../e2e/rpc/session-client.ts";
import { cachedSequence, call, type Format, formats, list, readable, wireWorld } from "../wire-world.ts";

const logo = samplePng(3, 2);
const chart = samplePng(4, 4);
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

const look = [
  { calls: [call("c1", "Read", { file_path: "logo.png" }), call("c2", "LS", { path: "." })] },
  { text: ["Grey."] },
  { text: ["Still grey."] },
];

/** A shape of each format that can see. */
const seers: Readonly<Record<Format, string>> = {
  "openai-compatible": "qwen3-vl",
  openai: "gpt-4.1",
  anthropic: "claude-sonnet-4-5",
  gemini: "gemini-3-pro-preview",
};

function said(format: Format, request: ReceivedModelRequest | undefined): readonly unknown[] {
  const place = { "openai-compatible": "messages", openai: "input", anthropic: "messages", gemini: "contents" }[format];
  return list(request?.body[place]);
}

describe.each(formats)("%s", (format) => {
  test("an image that was read goes as this format wants it, and stays the same after a restart", async () => {
    await using world = await wireWorld(format, look, { model: seers[format], files: {} });
    const { server, provider } = world;
    await server.workspace.write("logo.png", logo);
    const sessionId = await startSession(server);
    expect(endState(await runTurn(server, sessionId, "What colour is the logo?"))).toBe("COMPLETED");
    const second = provider.requests[1];
    if (second === undefined) throw new Error("There was no second request.");
    expect(JSON.stringify(second.body).split(base64(logo))).toHaveLength(2);
    await expect(readable(format, second).replaceAll(base64(logo), "(the logo)")).toMatchFileSnapshot(
      join(import.meta.dirname, `../recorded/image.${seers[format]}.yaml`),
    );

    await server.restart();
    expect(endState(await runTurn(server, sessionId, "And now?"))).toBe("COMPLETED");
    const before = cachedSequence(format, second);
    const third = provider.requests[2];
    if (third === undefined) throw new Error("There was no third request.");
    expect(cachedSequence(format, third).slice(0, before.length)).toEqual(before);
  });
});

test("the twenty-first image sends the older half away, and what came before stays the same until then", async () => {
  await using world = await wireWorld(
    "anthropic",
    (count) =>
      count <= 21 ? { calls: [call(`c${count}`, "Read", { file_path: `${count}.png` })] } : { text: ["Seen."] },
    { model: seers.anthropic },
  );
  const { server, provider } = world;
  for (let count = 1; count <= 21; count++) await server.workspace.write(`${count}.png`, samplePng(count, 1));
  const sessionId = await startSession(server);
  expect(endState(await runTurn(server, sessionId, "Look at all"))).toBe("COMPLETED");
  const shown = provider.requests.map(({ body }) => {
    const text = JSON.stringify(body);
    return Array.from({ length: 21 }, (_, at) => text.includes(base64(samplePng(at + 1, 1)))).filter(Boolean).length;
  });
  expect(shown).toEqual([...Array.from({ length: 21 }, (_, at) => at), 10]);
  expect(JSON.stringify(said("anthropic", provider.requests.at(-1)))).toContain("It was left out to save room");
});

test("a chat-completions server without eyes is told so after it refused once, for all later requests", async () => {
  // llama.cpp and DeepSeek refuse so: https://github.com/ggml-org/llama.cpp/blob/master/tools/server/utils.hpp
  const seen: string[] = [];
  await using world = await wireWorld(
    "openai-compatible",
    (_count, { body }) => {
      const text = JSON.stringify(body["messages"]);
      if (text.includes("image_url")) {
        seen.push("refused");
        return { status: 400, message: "image input is not supported" };
      }
      seen.push(text.includes("this model cannot see images") ? "told" : "plain");
      return seen.length === 1
        ? { calls: [call("c1", "Read", { file_path: "logo.png" })] }
        : { text: ["I cannot see it."] };
    },
    { model: "blind-chat-model" },
  );
  const { server } = world;
  await server.workspace.write("logo.png", logo);
  const sessionId = await startSession(server);
  expect(endState(await runTurn(server, sessionId, "What colour?"))).toBe("COMPLETED");
  expect(endState(await runTurn(server, sessionId, "And now?"))).toBe("COMPLETED");
  expect(seen).toEqual(["plain", "refused", "told", "told"]);
});

test("images of parallel calls stand behind the last result, where results hold none", async () => {
  await using world = await wireWorld(
    "openai-compatible",
    [
      { calls: [call("c1", "Read", { file_path: "a.png" }), call("c2", "Read", { file_path: "b.png" })] },
      { text: ["Two."] },
    ],
    { model: "qwen3-vl-2" },
  );
  const { server, provider } = world;
  await server.workspace.write("a.png", logo);
  await server.workspace.write("b.png", chart);
  expect(endState(await runTurn(server, await startSession(server), "Compare"))).toBe("COMPLETED");
  const messages = said("openai-compatible", provider.requests[1]) as readonly {
    readonly role: string;
    readonly content: unknown;
  }[];
  expect(messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "tool", "user"]);
  const urls = list(messages.at(-1)?.content).slice(1);
  expect(urls).toEqual(
    [logo, chart].map((image) => ({ type: "image_url", image_url: { url: `data:image/png;base64,${base64(image)}` } })),
  );
});
