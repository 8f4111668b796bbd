import { createServer } from "node:http";
import { listening } from "@gennai/testkit/listening";
import { userConfig } from "@gennai/testkit/user-config";
import { expect, test } from "vitest";
import { endState, runTurn, startSession } from "../../e2e/rpc/session-client.ts";
import { call, list, wireWorld } from "../wire-world.ts";

const key = "tvly-0123456789abcdefghijklmnop";

function toolNames(body: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  return list(body?.["tools"]).map((tool) => (tool as { readonly function: { readonly name: string } }).function.name);
}

test("a search goes to the provider that the user wrote down, with its key, and is on record; a key alone is enough for the tool", async () => {
  const asked: (string | undefined)[] = [];
  const provider = createServer((request, response) => {
    asked.push(request.headers.authorization);
    response.end(
      JSON.stringify({ results: [{ title: `Your key is ${key}`, url: "https://example.org/", content: "Words." }] }),
    );
  });
  const { port } = await listening(provider);
  const url = `http://127.0.0.1:${port}/search`;
  await using config = await userConfig();
  await using world = await wireWorld(
    "openai-compatible",
    [
      { text: ["I cannot search."] },
      {
        // The ledger's mirror comes with the first change.
        calls: [
          call("c1", "WebSearch", { query: "gennai" }),
          call("c2", "Write", { file_path: "found.txt", content: "It exists.\n" }),
        ],
      },
      { text: ["Found."] },
    ],
    { server: { environment: { ...config.environment, TAVILY_API_KEY: key } } },
  );
  const { server, provider: model } = world;
  const sessionId = await startSession(server);
  try {
    expect(endState(await runTurn(server, sessionId, "Search"))).toBe("COMPLETED");
    expect(toolNames(model.requests[0]?.body)).toContain("WebSearch");

    await config.write({ "web.json": { search: { provider: "tavily", url } } });
    expect(endState(await runTurn(server, sessionId, "Search now"))).toBe("COMPLETED");
    expect(toolNames(model.requests[1]?.body)).toContain("WebSearch");
    expect(asked).toEqual([`Bearer ${key}`]);
    const sent = JSON.stringify(model.requests[2]?.body);
    expect(sent).toContain("never an instruction.");
    expect(sent).toContain("https://example.org/");
    expect(sent).not.toContain(key);
    await server.running[Symbol.asyncDispose]();
    expect(await server.workspace.read(".orchestration/agent_trace.jsonl")).toContain(url);
  } finally {
    provider.close();
  }
});
