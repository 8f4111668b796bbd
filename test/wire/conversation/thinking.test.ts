import { Effort } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { ModelAnswer, ModelRefusal } from "@gennai/testkit/model-server/model-answer";
import type { ReceivedModelRequest } from "@gennai/testkit/model-server/model-server";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { endState, runTurn, startSession } from "../../e2e/rpc/session-client.ts";
import { call, type Format, formats, list, readable, wireWorld } from "../wire-world.ts";

const files = { "a.txt": "one\n", "b.txt": "two\n" };

/** Between its calls a model thinks or does not, as it likes. */
const job: readonly ModelAnswer[] = [
  { thinking: ["I have ", "to look."], text: ["Reading."], calls: [call("c1", "Read", { file_path: "a.txt" })] },
  { calls: [call("c2", "Read", { file_path: "b.txt" })] },
  { thinking: ["Once more."], calls: [call("c3", "Read", { file_path: "no/such.txt" })] },
  { text: ["One and two."] },
  { text: ["Bye."] },
];

/** What says how a model is to think, in each format. */
function thinkingOf(body: Readonly<Record<string, unknown>>): unknown {
  const { thinking, output_config, max_tokens, reasoning, include, reasoning_effort, generationConfig } = body;
  return { thinking, output_config, max_tokens, reasoning, include, reasoning_effort, generationConfig };
}

describe.each<readonly [Format, string, "as it likes" | "never"]>([
  // https://platform.claude.com/docs/build-with-claude/thinking-tool-workflows: one configuration per assistant turn,
  // blocks go back complete and unmodified. By a budget, interleaved when asked to by `anthropic-beta`.
  ["anthropic", "claude-sonnet-4-5", "as it likes"],
  // https://platform.claude.com/docs/build-with-claude/adaptive-thinking: no budget, no header; thinking is optional.
  ["anthropic", "claude-opus-4-7", "as it likes"],
  // https://platform.openai.com/docs/guides/reasoning#encrypted-reasoning-items
  ["openai", "gpt-5", "as it likes"],
  // "Encrypted content is not supported with this model" (HTTP 400) for those that do not reason.
  ["openai", "gpt-4.1", "never"],
  // https://api-docs.deepseek.com/guides/thinking_mode#tool-calls: `reasoning_content` goes back with every call.
  ["openai-compatible", "deepseek-v4-pro", "as it likes"],
  // https://ai.google.dev/gemini-api/docs/thought-signatures
  ["gemini", "gemini-3-pro-preview", "as it likes"],
  ["gemini", "gemini-2.0-flash", "never"],
])("%s %s", (format, model, thinks) => {
  test("thinks the same way throughout a turn, and gets its thinking back", async () => {
    const answers = thinks === "never" ? job.map((answer) => ({ ...answer, thinking: [] })) : job;
    await using world = await wireWorld(format, answers, { model, files });
    const sessionId = await startSession(world.server);
    const first = await runTurn(world.server, sessionId, "What is in the files?", { enableThinking: true });
    const second = await runTurn(world.server, sessionId, "Bye", { enableThinking: true });

    expect([endState(first), endState(second)]).toEqual(["COMPLETED", "COMPLETED"]);
    const { requests } = world.provider;
    expect(requests).toHaveLength(5);
    const [begin] = requests;
    for (const { body, headers } of requests) {
      expect(thinkingOf(body)).toEqual(thinkingOf(begin?.body ?? {}));
      expect(headers["anthropic-beta"]).toBe(begin?.headers["anthropic-beta"]);
    }
    const [last] = requests.slice(-1);
    if (last === undefined) throw new Error("nothing was asked");
    await expect(readable(format, last)).toMatchFileSnapshot(`../recorded/thinking.${model}.yaml`);
  });
});

/** All texts of a request that are not marked as thinking. */
function spoken(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  const isThought = Reflect.get(value, "thought") === true;
  return Object.entries(value).flatMap(([key, inner]) =>
    isThought || /^(?:thinking|reasoning_content|summary)$/.test(key) ? [] : spoken(inner),
  );
}

test.each(formats)("%s: what was thought before a call that cannot be read is never told as text", async (format) => {
  const half = { ...call("c1", "Read", {}), raw: '{"file_path": "a.t' };
  const answers = [{ thinking: ["Behind the door."], calls: [half] }, { text: ["Oh."] }, { text: ["Bye."] }];
  await using world = await wireWorld(format, answers, { files });
  const sessionId = await startSession(world.server);
  for (const text of ["Look", "Bye"]) {
    expect(endState(await runTurn(world.server, sessionId, text, { enableThinking: true }))).toBe("COMPLETED");
  }
  expect(world.provider.requests.length).toBeGreaterThan(2);
  for (const { body } of world.provider.requests) expect(spoken(body).join("\n")).not.toContain("Behind the door.");
});

const effort = "reasoning_effort";

const messageSchema = z.looseObject({ role: z.string(), tool_call_id: z.string().optional() });

describe("a chat-completions server that wants it otherwise", () => {
  const turns = async (model: string, answers: Parameters<typeof wireWorld>[1]) => {
    const world = await wireWorld("openai-compatible", answers, { model, files });
    const sessionId = await startSession(world.server, { settings: { effort: Effort.HIGH } });
    return { world, state: endState(await runTurn(world.server, sessionId, "Look", { enableThinking: true })) };
  };

  test.each([
    // https://github.com/ollama/ollama/blob/main/server/routes.go, ChatHandler
    ["ollama", '"llama3.3" does not support thinking'],
    // https://console.groq.com/docs/reasoning
    ["groq", "`reasoning_effort` is not supported with this model"],
  ])("goes on without an effort where %s knows none, and asks no second time", async (name, message) => {
    let refused = 0;
    const { world, state } = await turns(`no-effort-${name}`, (count, { body }) => {
      if (effort in body) {
        refused += 1;
        return { status: 400, message };
      }
      return count === 2 ? { calls: [call("c1", "LS", { path: "." })] } : { text: ["Done."] };
    });
    await using _ = world;
    expect(state).toBe("COMPLETED");
    expect(refused).toBe(1);
  });

  // The words of https://api.deepseek.com, where thinking was masked or left out.
  test("fills in thinking that a call has lost where it must not be missing", async () => {
    let refused = 0;
    const { world, state } = await turns("wants-thinking", (_count, { body }) => {
      const messages: unknown = body["messages"];
      if (!Array.isArray(messages)) throw new Error("no messages");
      const made = messages.filter((message: { tool_calls?: unknown }) => message.tool_calls !== undefined);
      if (made.some((message: object) => !("reasoning_content" in message))) {
        refused += 1;
        return { status: 400, message: "The reasoning_content in the thinking mode must be passed back to the API." };
      }
      return made.length < 2 ? { calls: [call(`c${made.length}`, "LS", { path: "." })] } : { text: ["Done."] };
    });
    await using _ = world;
    expect(state).toBe("COMPLETED");
    expect(refused).toBe(1);
  });

  // https://console.groq.com/docs/openai: fields it does not know are refused.
  test("keeps thinking to itself where it is refused", async () => {
    let refused = 0;
    const { world, state } = await turns("refuses-thinking", (_count, { body }) => {
      const sent = JSON.stringify(body["messages"]);
      if (sent.includes("reasoning_content")) {
        refused += 1;
        return { status: 400, message: "'messages.2' : property 'reasoning_content' is unsupported" };
      }
      return sent.includes("c1")
        ? { text: ["Done."] }
        : { thinking: ["Hm."], calls: [call("c1", "LS", { path: "." })] };
    });
    await using _ = world;
    expect(state).toBe("COMPLETED");
    expect(refused).toBe(1);
  });

  // https://github.com/mistralai/mistral-common: the order of roles, and what an id looks like. Notes of a folder are told behind
  // the result of the call that came upon it.
  test("parts the user from a result, and shortens ids, where these are refused", async () => {
    const refusals: string[] = [];
    const answer = (_count: number, { body }: ReceivedModelRequest): ModelAnswer | ModelRefusal => {
      const sent = list(body["messages"]).map((message) => messageSchema.parse(message));
      const refuse = (message: string) => {
        refusals.push(message);
        return { status: 400, message };
      };
      if (sent.some(({ role }, at) => role === "user" && sent[at - 1]?.role === "tool"))
        return refuse("Unexpected role 'user' after role 'tool'");
      const long = sent.find(({ tool_call_id: id }) => id !== undefined && !/^[a-zA-Z0-9]{9}$/.test(id));
      if (long !== undefined)
        return refuse(`Tool call id was ${long.tool_call_id} but must be a-z, A-Z, 0-9, with a length of 9.`);
      const results = sent.filter(({ role }) => role === "tool").length;
      const path = results === 0 ? "lib/a.ts" : "other/b.ts";
      return results < 2 ? { calls: [call(`call_${results}`, "Read", { file_path: path })] } : { text: ["Done."] };
    };
    const folders = {
      "lib/AGENTS.md": "Pure.\n",
      "lib/a.ts": "1\n",
      "other/AGENTS.md": "Short.\n",
      "other/b.ts": "2\n",
    };
    await using world = await wireWorld("openai-compatible", answer, { model: "strict-order", files: folders });
    const sessionId = await startSession(world.server);
    expect(endState(await runTurn(world.server, sessionId, "Look"))).toBe("COMPLETED");
    expect(refusals).toHaveLength(2);
  });
});
