import { TodoPriority, TodoStatus } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { ModelAnswer } from "@gennai/testkit/model-server/model-answer";
import type { ReceivedModelRequest } from "@gennai/testkit/model-server/model-server";
import { describe, expect, test } from "vitest";
import { endState, runTurn, startSession } from "../../e2e/rpc/session-client.ts";
import { call, expectPrefixes, formats, list, wireWorld } from "../wire-world.ts";

const files = {
  "AGENTS.md": "Use tabs.\n",
  "lib/AGENTS.md": "Everything in lib is pure.\n",
  "lib/add.ts": "export const add = (a: number, b: number) => a - b;\n",
  "a.txt": "one\n",
};

const todos = (status: string) => ({ todos: [{ content: "Mend add", status }] });

const job: readonly ModelAnswer[] = [
  { thinking: ["A list first."], calls: [call("c1", "TodoWrite", todos("in_progress"))] },
  // A folder with notes of its own comes into play.
  {
    thinking: ["Now look."],
    text: ["Looking."],
    calls: [call("c2", "Read", { file_path: "lib/add.ts" }), call("c3", "Read", { file_path: "a.txt" })],
  },
  { calls: [call("c4", "Edit", { file_path: "lib/add.ts", old_string: "a - b", new_string: "a + b" })] },
  { calls: [call("c5", "TodoWrite", todos("completed"))] },
  { thinking: ["That is it."], text: ["Mended."] },
  { calls: [call("c6", "Read", { file_path: "a.txt" })] },
  { text: ["Nothing else."] },
  { text: ["Still here."] },
];

describe.each(formats)("%s", (format) => {
  test("each request begins with the one before, byte for byte, whatever changes meanwhile, and after a restart", async () => {
    await using world = await wireWorld(format, job, { files });
    const { server, provider } = world;
    const sessionId = await startSession(server);
    const ask = async (text: string) => endState(await runTurn(server, sessionId, text, { enableThinking: true }));

    expect(await ask("Mend lib/add.ts")).toBe("COMPLETED");
    await server.client.writeTodos({
      sessionId,
      items: [{ content: "Water the plants", status: TodoStatus.PENDING, priority: TodoPriority.HIGH }],
    });
    await server.workspace.write("AGENTS.md", "Use spaces.\n");
    await server.restart();
    expect(await ask("And the rest?")).toBe("COMPLETED");
    await server.restart();
    expect(await ask("Are you there?")).toBe("COMPLETED");

    expect(provider.requests).toHaveLength(job.length);
    expectPrefixes(format, provider.requests);
    // What changed was told, once.
    const sent = JSON.stringify(provider.requests.at(-1)?.body);
    for (const words of ["Everything in lib is pure.", "Use spaces.", "Water the plants"]) {
      expect(sent.split(words)).toHaveLength(2);
    }
    // The list that the model wrote itself is not told to it once more.
    expect(sent).not.toContain("[>] Mend add");
    // Nothing that costs tokens and tells a model nothing: what a schema is written in, and when a todo was made.
    expect(sent).not.toMatch(/\$schema|\d{4}-\d\d-\d\dT\d\d:/);
  });
});

/** How long the cache is asked to keep what it holds up to each mark, in the request's order. */
function marks({ body }: ReceivedModelRequest): readonly string[] {
  const found: string[] = [];
  const look = (place: string, value: unknown): void => {
    JSON.stringify(value, (key, inner: unknown) => {
      if (key === "cache_control") found.push(`${place} ${(inner as { ttl?: string }).ttl ?? "5m"}`);
      return inner;
    });
  };
  look("tools", body["tools"]);
  look("system", body["system"]);
  for (const [index, message] of list(body["messages"]).entries()) look(`message ${index}`, message);
  return found;
}

// https://platform.claude.com/docs/en/build-with-claude/prompt-caching: at most four marks, longer lives first, and no more
// than twenty blocks are looked at before a mark.
test("anthropic: marks the system text, where the request before ended, and the end", async () => {
  await using world = await wireWorld("anthropic", job, { files });
  const sessionId = await startSession(world.server);
  await runTurn(world.server, sessionId, "Mend lib/add.ts", { enableThinking: true });
  const { requests } = world.provider;
  expect(requests.slice(0, 3).map(marks)).toEqual([
    ["system 1h", "message 0 5m"],
    ["system 1h", "message 0 5m", "message 2 5m"],
    ["system 1h", "message 2 5m", "message 4 5m"],
  ]);
});

// https://platform.openai.com/docs/guides/prompt-caching: requests with one key go to one cache.
test("openai: names one cache for all requests of a session, and another for another", async () => {
  await using world = await wireWorld("openai", (count) =>
    count === 1 ? { calls: [call("c1", "LS", { path: "." })] } : { text: ["Done."] },
  );
  const first = await startSession(world.server);
  await runTurn(world.server, first, "Look");
  await world.server.restart();
  await runTurn(world.server, first, "Again");
  await runTurn(world.server, await startSession(world.server), "Another");
  const keys = world.provider.requests.map(({ body }) => body["prompt_cache_key"]);
  expect(keys).toHaveLength(4);
  expect(new Set(keys.slice(0, 3)).size).toBe(1);
  expect(keys[3]).not.toBe(keys[0]);
  for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/);
});
