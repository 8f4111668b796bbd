import { existsSync } from "node:fs";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { ModelAnswer } from "@gennai/testkit/model-server/model-answer";
import { modelWires, startModelServer } from "@gennai/testkit/model-server/model-server";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { endState, eventsOf, runTurn, startSession } from "../rpc/session-client.ts";

type Backend = keyof typeof modelWires;

const models: Readonly<Record<Backend, string>> = {
  "openai-compatible": "qwen3",
  ollama: "qwen3",
  openai: "gpt-5",
  anthropic: "claude-sonnet-4-5",
  gemini: "gemini-3-pro-preview",
};
const backends = ["openai-compatible", "ollama", "openai", "anthropic", "gemini"] as const satisfies readonly Backend[];

/** A provider that answers in this order, and a server whose sessions use it. */
async function serve(backend: Backend, answers: readonly ModelAnswer[]) {
  const provider = await startModelServer(
    modelWires[backend],
    (count) => answers[count - 1] ?? { text: ["(no more)"] },
  );
  const server = await startTestServer({
    files: { "src/add.ts": "export const add = (a: number, b: number) => a - b;\n" },
    settings: { backend, model: models[backend], baseUrl: provider.baseUrl },
    server: { environment: { ...process.env, GENNAI_API_KEY: "key-0123456789abcdef" } },
  });
  return {
    server,
    provider,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

const call = (id: string, name: string, args: Readonly<Record<string, unknown>>) => ({ id, name, arguments: args });
const file = "src/add.ts";
const job: readonly ModelAnswer[] = [
  {
    thinking: ["I have ", "to look."],
    text: ["Reading."],
    calls: [call("c1", "Read", { file_path: file }), call("c2", "Ls", { path: "." })],
  },
  {
    thinking: ["Minus is wrong."],
    calls: [call("c3", "Edit", { file_path: file, old_string: "a - b", new_string: "a + b" })],
  },
  { text: ["Mended: ", "it adds now."] },
  { calls: [call("c4", "Read", { file_path: "no/such.ts" })] },
  { text: ["There is no such file."] },
];

/** What happened, without ids, times and the sizes of pieces. */
function story(events: readonly InvokeEvent[]): readonly string[] {
  const lines: string[] = [];
  for (const { event } of events) {
    switch (event.case) {
      case "thinkingDelta":
      case "assistantDelta": {
        const last = lines.at(-1);
        if (last?.startsWith(`${event.case}:`)) lines[lines.length - 1] = last + event.value.text;
        else lines.push(`${event.case}:${event.value.text}`);
        break;
      }
      case "toolCall":
        lines.push(`call ${event.value.name} ${JSON.stringify(JSON.parse(event.value.argumentsJson))}`);
        break;
      case "toolResult":
        lines.push(`result ${event.value.error === "" ? "ok" : "failed"} ${event.value.output.slice(0, 40)}`);
        break;
      case "usage":
        lines.push(`usage ${event.value.inputTokens} ${event.value.outputTokens}`);
        break;
      case "final":
        lines.push(`final ${event.value.text}`);
        break;
      case "status":
        lines.push(`status ${event.value.state}`);
        break;
      default:
        break;
    }
  }
  return lines;
}

test("the same job of several turns is the same events over every provider's wire", async () => {
  const stories = new Map<Backend, readonly string[]>();
  for (const backend of backends) {
    await using here = await serve(backend, job);
    const session = await startSession(here.server);
    const first = await runTurn(here.server, session, "mend add", { enableThinking: true });
    const second = await runTurn(here.server, session, "and the other one", { enableThinking: true });
    stories.set(backend, [...story(first), ...story(second)]);
    expect(await here.server.workspace.read(file)).toContain("a + b");
    expect(here.provider.requests).toHaveLength(job.length);
    // The second turn knows the first.
    expect(JSON.stringify(here.provider.requests[3]?.body)).toContain("it adds now.");
  }
  const [expected] = stories.values();
  expect(expected?.filter((line) => line.startsWith("call"))).toHaveLength(4);
  for (const [backend, told] of stories) expect(told, backend).toEqual(expected);
});

test("half of a call's arguments are refused, told to the model, and run nothing", async () => {
  const half = { ...call("c1", "Write", {}), raw: '{"file_path": "new.txt", "content": "ab' };
  await using here = await serve("openai-compatible", [{ calls: [half] }, { text: ["Then not."] }]);
  const events = await runTurn(here.server, await startSession(here.server), "write it");
  expect(endState(events)).toBe("COMPLETED");
  expect(eventsOf(events, "toolResult")).toMatchObject([{ error: expect.stringMatching(/JSON|arguments/i) }]);
  expect(existsSync(here.server.workspace.path("new.txt"))).toBe(false);
});
