import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Message, Model, ModelEvent } from "@gennai/agent/model";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseScript } from "#script";
import { loadScriptedModel, ScriptedModel } from "#scripted";
import { requestWith } from "./request-with.ts";

const demo = `
turns:
  - steps:
      - thinking: ["Let ", "me ", see]
      - text: I will read two files.
      - tool: { name: Read, args: { file_path: a.txt } }
      - tool: { name: Read, args: { file_path: b.txt } }
      - usage: { input_tokens: 10, output_tokens: 5 }
      - text: Both read.
  - match: ^flood
    steps:
      - text: { repeat: 1000, chunk: "word " }
  - steps:
      - tool: { name: Bash, args_json: '{"command":' }
  - match: broken
    steps:
      - delay_ms: 1
      - error: { code: rate_limited, message: Too fast., hint: Wait., retryable: true }
`;

const user = (text: string): Message => ({ role: "user", text });
const assistant: Message = { role: "assistant", text: "", toolCalls: [] };

async function play(
  model: Model,
  messages: readonly Message[],
  options: { thinking?: boolean; signal?: AbortSignal } = {},
) {
  const request = requestWith({ messages, enableThinking: options.thinking ?? true });
  const events: ModelEvent[] = [];
  for await (const event of model.stream(request, { signal: options.signal ?? new AbortController().signal }))
    events.push(event);
  return events;
}

describe("ScriptedModel", () => {
  const model = new ScriptedModel(parseScript(demo, "demo.yaml"));

  it("plays an answer with parallel calls", async () => {
    const call = (id: string, path: string) => {
      const argumentsJson = `{"file_path":"${path}"}`;
      return [
        { type: "tool-call-start", id, name: "Read" },
        { type: "tool-call-delta", id, text: argumentsJson },
        { type: "tool-call", id, name: "Read", argumentsJson },
      ];
    };
    expect(await play(model, [user("go")])).toEqual([
      { type: "thinking-delta", text: "Let " },
      { type: "thinking-delta", text: "me " },
      { type: "thinking-delta", text: "see" },
      { type: "text-delta", text: "I will read two files." },
      ...call("script-1-1-1", "a.txt"),
      ...call("script-1-1-2", "b.txt"),
      { type: "usage", inputTokens: 10, outputTokens: 5 },
      { type: "finish", reason: "tool-calls" },
    ]);
  });

  it("knows its place from the messages alone", async () => {
    expect(await play(model, [user("go"), assistant])).toEqual([
      { type: "text-delta", text: "Both read." },
      { type: "finish", reason: "stop" },
    ]);
    expect(
      await play(model, [user("go"), assistant, assistant, user("Flood me"), assistant, user("next")]),
    ).toMatchObject([
      { name: "Bash" },
      {},
      { type: "tool-call", id: "script-3-1-1", argumentsJson: '{"command":' },
      { reason: "tool-calls" },
    ]);
  });

  it("leaves thinking out where it is not wanted", async () => {
    expect((await play(model, [user("go")], { thinking: false }))[0]).toMatchObject({ type: "text-delta" });
  });

  it("makes floods that can be stopped", async () => {
    expect(await play(model, [user("flood")])).toHaveLength(1001);
    const controller = new AbortController();
    const stopped = play(model, [user("flood")], { signal: controller.signal });
    controller.abort();
    await expect(stopped).rejects.toMatchObject({ name: "AbortError" });
  });

  it.each([
    ["a turn too many", [user("one"), user("two"), user("three")], "no answer 1 for user message 3"],
    ["an answer too many", [user("go"), assistant, assistant], "no answer 3 for user message 1"],
    ["no user message", [], "no answer 1"],
  ])("is exhausted: %s", async (_name, messages, message) => {
    await expect(play(model, messages)).rejects.toMatchObject({
      code: "script_exhausted",
      message: expect.stringContaining(message),
    });
    await expect(play(model, messages)).rejects.toThrow("demo.yaml");
  });

  it("throws the error it is told to", async () => {
    await expect(play(model, [user("BROKEN")])).rejects.toMatchObject({
      code: "rate_limited",
      hint: "Wait.",
      retryable: true,
    });
  });
});

it.each([
  ["turns: []", /^s\.yaml:1: turns: /],
  [
    "turns:\n  - steps:\n      - txet: hi\n",
    /^s\.yaml:3: turns\[0\]\.steps\[0\]: a step is one of thinking, text, tool/,
  ],
  ["turns:\n  - steps:\n      - text: a\n        tool: {name: b}\n", /not text and tool/],
  ["turns:\n  - steps:\n      - text: a\n      - tool: {nmae: Read}\n", /^s\.yaml:4: turns\[0\]\.steps\[1\]\.tool/],
  ["turns:\n  - match: '('\n    steps: [{text: a}]\n", /^s\.yaml:2: turns\[0\]\.match: is not a regular expression/],
  ["turns:\n  - steps: [{tool: {name: a, args: {}, args_json: x}}]\n", /keep one/],
  ["turns: [\n", /^s\.yaml:\d+: /],
  ["turns:\n  - steps: [{text: {repeat: 0, chunk: a}}]\n", /^s\.yaml:2: turns\[0\]\.steps\[0\]\.text/],
])("parseScript: says where %j is wrong", (text, message) => {
  expect(() => parseScript(text, "s.yaml")).toThrow(message);
});

describe("loadScriptedModel", () => {
  let directory = "";
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "script-"));
  });
  afterAll(() => rm(directory, { recursive: true }));

  it("reads the file", async () => {
    const file = join(directory, "demo.yaml");
    await writeFile(file, demo);
    expect((await loadScriptedModel(file)).id).toBe("scripted/demo.yaml");
  });

  it.each([
    ["", "--model"],
    ["missing.yaml", "ENOENT"],
    [".", "not a regular file"],
  ])("explains %j", async (name, part) => {
    const error = await loadScriptedModel(name === "" ? "" : join(directory, name)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "ModelError", code: "not_configured" });
    expect(JSON.stringify(error, ["message", "hint"]) + String(error)).toContain(part);
  });

  it("does not wait for the writer of a named pipe", async () => {
    const pipe = join(directory, "pipe.yaml");
    execFileSync("mkfifo", [pipe]);
    await expect(loadScriptedModel(pipe)).rejects.toThrow("not a regular file");
  });
});
