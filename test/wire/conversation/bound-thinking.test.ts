import { join } from "node:path";
import { EditingMode } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { userConfig } from "@gennai/testkit/user-config";
import { describe, expect, test } from "vitest";
import { endState, runTurn, startSession, Watcher } from "../../e2e/rpc/session-client.ts";
import { type BoundRequest, bind, boundAnswer } from "../bound-thinking.ts";
import { call, wireWorld } from "../wire-world.ts";

const mcpServer = join(import.meta.dirname, "../../../packages/sessions/test/mcp/hostile-server.ts");
const files = { "a.txt": "one\n" };

/** A session with a model that thinks before each call, two calls to a turn, and what its provider made of each request. */
async function thinkingWorld(model: string, knowsBinding = true) {
  const config = await userConfig();
  const bound: BoundRequest[] = [];
  let calls = 0;
  const world = await wireWorld(
    "anthropic",
    (_count, request) => {
      const sent = JSON.stringify(request.body);
      if (!knowsBinding && sent.includes("block_binding"))
        return { status: 400, message: "thinking.block_binding: Extra inputs are not permitted" };
      const now = bind(request);
      bound.push(now);
      if (sent.includes("Summarise this conversation.")) return boundAnswer(now, { text: ["They read a file."] });
      calls += 1;
      const look = { thinking: ["Look."], calls: [call(`c${calls}`, "Read", { file_path: "a.txt" })] };
      return boundAnswer(now, calls % 3 === 0 ? { text: ["One."] } : look);
    },
    {
      model,
      files,
      server: { environment: config.environment },
    },
  );
  const sessionId = await startSession(world.server);
  return {
    ...world,
    sessionId,
    bound,
    async turn(text: string, more: Parameters<typeof runTurn>[3] = {}): Promise<string> {
      return endState(await runTurn(world.server, sessionId, text, { enableThinking: true, ...more }));
    },
    async addMcpServer() {
      const mcpServers = { odd: { command: process.execPath, args: [mcpServer], allow: ["echo"] } };
      await config.write({ "mcp.json": { mcpServers } });
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await config[Symbol.asyncDispose]();
    },
  };
}

// "Fable 5.2, Fable 5.1, Opus 5.5, and Sonnet 5.5 use preserved thinking": the docs of `@ai-sdk/anthropic`, 05-anthropic.mdx, "Thinking
// Binding Controls". Haiku 5.5 and Mythos: the list of models in https://platform.claude.com/docs/en/build-with-claude/preserved-thinking.
test("a session goes on, whatever changes before what the model thought", async () => {
  await using world = await thinkingWorld("claude-opus-5-5");
  const { server, sessionId, turn, bound } = world;
  const states = [await turn("Read a.txt")];
  // Nothing has changed so far: thinking is taken back.
  expect(bound.map(({ kept, dropped }) => [kept, dropped])).toEqual([
    [0, 0],
    [1, 0],
    [2, 0],
  ]);

  for (const round of [1, 2]) {
    await server.client.compactSession({ sessionId });
    states.push(await turn(`Again, ${round}`));
    await server.client.setSettings({
      sessionId,
      settings: { editingMode: round === 1 ? EditingMode.PROPOSAL : EditingMode.BRANCH },
    });
    states.push(await turn("In another mode"));
    states.push(await turn("In another scenario", { scenario: round === 1 ? "RESPOND" : "CODE" }));
    await server.client.compactSession({ sessionId });
    states.push(await turn("Without thinking", { enableThinking: false }));
    if (round === 1) await world.addMcpServer();
    states.push(await turn("With a server of tools"));
    {
      await using _editor = await Watcher.attach(server, sessionId);
      states.push(await turn("With an editor"));
    }
    states.push(await turn("Without the editor"));
  }
  expect(states).toEqual(states.map(() => "COMPLETED"));
  expect(bound.filter(({ refusal }) => refusal !== undefined)).toEqual([]);
  expect(bound.reduce((sum, { dropped }) => sum + dropped, 0)).toBeGreaterThan(4);
});

describe("who is asked to drop such blocks", () => {
  const thinkingFor = async (model: string, enableThinking = true) => {
    await using world = await wireWorld("anthropic", [{ text: ["Hello."] }], { model });
    await runTurn(world.server, await startSession(world.server), "hello", { enableThinking });
    const { body } = world.provider.requests[0] ?? {};
    return { thinking: body?.["thinking"], effort: body?.["output_config"] };
  };
  const block_binding = { prefix_mismatch_behavior: "drop_block" };

  test.each([
    "claude-opus-5-5",
    "claude-opus-5-5-20261001",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
    "claude-fable-5-1",
    "claude-fable-5-2",
    "claude-mythos-5-2",
    "anthropic/claude-opus-5.5",
    "claude-opus-6",
  ])("%s is", async (model) => {
    // Without an effort a model thinks as hard as its maker finds right.
    expect(await thinkingFor(model)).toEqual({
      thinking: { type: "adaptive", display: "summarized", block_binding },
      effort: undefined,
    });
    // It thinks also where nobody asks it to.
    expect(await thinkingFor(model, false)).toEqual({ thinking: { block_binding }, effort: undefined });
  });

  test.each(["claude-opus-4-7", "claude-opus-5", "claude-opus-5-20260901", "claude-sonnet-5", "claude-fable-5"])(
    "%s is not",
    async (model) => {
      expect(await thinkingFor(model)).toEqual({
        thinking: { type: "adaptive", display: "summarized" },
        effort: undefined,
      });
      expect(await thinkingFor(model, false)).toEqual({ thinking: undefined, effort: undefined });
    },
  );
});

test.each([
  ["a model of another name that binds all the same", "claude-opus-4-8", true],
  ["a gateway that does not know the words, and a model that binds", "claude-sonnet-5-5", false],
])("%s: costs one refused request", async (_what, model, knowsBinding) => {
  await using world = await thinkingWorld(model, knowsBinding);
  const { server, sessionId, turn, bound } = world;
  expect(await turn("Read a.txt")).toBe("COMPLETED");
  await server.client.setSettings({ sessionId, settings: { editingMode: EditingMode.PROPOSAL } });
  for (const text of ["Once more", "And again"]) expect(await turn(text)).toBe("COMPLETED");
  expect(bound.filter(({ refusal }) => refusal !== undefined)).toHaveLength(1);
});
