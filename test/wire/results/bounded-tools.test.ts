import { createServer } from "node:http";
import { join } from "node:path";
import { AgentSession } from "@gennai/client/session/agent-session";
import { listening } from "@gennai/testkit/listening";
import { userConfig } from "@gennai/testkit/user-config";
import { expect, test } from "vitest";
import { endState } from "../../e2e/rpc/session-client.ts";
import { call, list, wireWorld } from "../wire-world.ts";

/** Characters of a tool's result that a model gets. */
const bound = 48_000;
const long = "word ".repeat(40_000);
const hostileServer = join(import.meta.dirname, "../../../packages/sessions/test/mcp/hostile-server.ts");

/** A call of each tool with potentially very long output, and calls whose refusal could be as long. */
const calls = (port: number) => [
  call("ls", "LS", { path: "many" }),
  call("glob", "Glob", { pattern: "many/**" }),
  call("grep", "Grep", { pattern: "word", output_mode: "content" }),
  call("notebook", "Read", { file_path: "a.ipynb" }),
  call("bash", "Bash", { command: "cat long.txt >&2; exit 3" }),
  call("mcp", "mcp__odd__echo", { text: long }),
  call("fetched", "WebFetch", { url: `http://127.0.0.1:${port}/` }),
  call("found", "WebSearch", { query: "words" }),
  call("problems", "Problems", {}),
  call("skill", "Skill", { name: "wordy" }),
  call("todo", "TodoWrite", {
    todos: Array.from({ length: 200 }, () => ({ content: "w".repeat(1_900), status: "pending" })),
  }),
  call("todos", "TodoRead", {}),
  call("explored", "Explore", { description: "Explore it", prompt: "Sub-agent, tell much" }),
  call("stale", "Edit", { file_path: "long.txt", old_string: "nowhere", new_string: "x" }),
  call("nothing", "NoSuchTool".repeat(6), { text: long }),
  call("wrong", "Read", { [long]: long }),
];

test("whichever tool gives too much, the model gets at most 48,000 characters of it", async () => {
  const web = createServer((request, response) => {
    const results = Array.from({ length: 5 }, () => ({ title: long, url: "https://example.org/", content: long }));
    response.setHeader("content-type", request.url === "/" ? "text/plain" : "application/json");
    response.end(request.url === "/" ? long : JSON.stringify({ results }));
  });
  const { port } = await listening(web);
  await using config = await userConfig({
    "mcp.json": { mcpServers: { odd: { command: process.execPath, args: [hostileServer], allow: ["echo"] } } },
    "web.json": {
      allow_private: [`127.0.0.1:${port}`],
      search: { provider: "searxng", url: `http://127.0.0.1:${port}/search` },
    },
    "skills/wordy/SKILL.md": `---\nname: wordy\ndescription: Says much\n---\n${long.slice(0, 60_000)}\n`,
  });
  const cell = { cell_type: "code", id: "c", metadata: {}, source: long, outputs: [], execution_count: null };
  const many = Array.from({ length: 1_500 }, (_, n) => [`many/${n}${"y".repeat(200)}`, "word\n"]);
  const all = calls(port);
  await using world = await wireWorld(
    "openai-compatible",
    (_count, { body }) => {
      const said = JSON.stringify(body["messages"]);
      if (said.includes("Sub-agent, tell much") && !said.includes("Do it all")) return { text: [long] };
      const answered = list(body["messages"]).filter((message) => (message as { role: string }).role === "tool").length;
      const next = all[answered];
      return next === undefined ? { text: ["Done."] } : { calls: [next] };
    },
    {
      settings: { maxContextTokens: 1_000_000 },
      server: { environment: config.environment },
      files: {
        "long.txt": `${"line of words\n".repeat(20_000)}${long}`,
        "a.ipynb": JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 }),
        ...Object.fromEntries(many),
      },
    },
  );
  const signal = AbortSignal.timeout(40_000);
  const editor = {
    confirm: async () => ({ answer: "yes" as const, scope: "once" as const }),
    listDiagnostics: async () =>
      Array.from({ length: 1_000 }, (_, line) => ({
        path: "long.txt",
        line,
        column: 1,
        severity: "error" as const,
        message: long.slice(0, 4_000),
        source: "tsc",
        code: "1",
      })),
  };
  try {
    const identity = { clientId: "editor", name: "test", version: "0", editor };
    const session = await AgentSession.start(world.server.client, identity, {}, { interactive: true, signal });
    const events = await Array.fromAsync(session.runTurn({ text: "Do it all", scenario: "CODE" }, { signal }));
    expect(endState(events)).toBe("COMPLETED");
    const told = list(world.provider.requests.at(-1)?.body["messages"]) as readonly {
      readonly role: string;
      readonly content: string;
      readonly tool_call_id?: string;
    }[];
    const lengths = new Map(
      told
        .filter(({ role }) => role === "tool")
        .map(({ tool_call_id = "", content }) => [tool_call_id, content.length]),
    );
    expect([...lengths.keys()]).toEqual(all.map(({ id }) => id));
    for (const [id, length] of lengths) expect(length, id).toBeLessThanOrEqual(bound);
    const cut = [...lengths].flatMap(([id, length]) => (length > 40_000 ? [id] : []));
    // The others have narrower bounds of their own, or gave no more.
    expect(cut).toEqual(["ls", "glob", "bash", "mcp", "fetched", "problems", "skill", "todo", "todos", "wrong"]);
  } finally {
    web.close();
  }
});
