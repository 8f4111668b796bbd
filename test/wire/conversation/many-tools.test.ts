import { join } from "node:path";
import { estimateText } from "@gennai/agent/conversation/token-estimate";
import type { ConfirmationQuestion } from "@gennai/client/connection/editor";
import { AgentSession } from "@gennai/client/session/agent-session";
import { userConfig } from "@gennai/testkit/user-config";
import { expect, test } from "vitest";
import { endState, eventsOf } from "../../e2e/rpc/session-client.ts";
import { call, list, wireWorld } from "../wire-world.ts";

const mcpServer = join(import.meta.dirname, "../../../packages/sessions/test/mcp/hostile-server.ts");

/** Each tool as it was sent, without the marks of what is to be cached. */
function toolsOf(body: Readonly<Record<string, unknown>>): readonly string[] {
  return list(body["tools"]).map((tool) => JSON.stringify({ ...Object(tool), cache_control: undefined }));
}

test("120 tools of a server cost little until the model asks for one, which then stays, and is asked about as ever", async () => {
  const mcpServers = { odd: { command: process.execPath, args: [mcpServer, "hundreds"] } };
  await using config = await userConfig({ "mcp.json": { mcpServers } });
  const name = "mcp__odd__change_thing_77";
  const answers = [
    [call("a", "LoadTools", { search: "number 77" })],
    [call("b", "LoadTools", { names: [name] })],
    [call("c", name, { text: "done" })],
    [call("d", "LoadTools", { names: ["mcp__odd__change_thing_5"] })],
  ];
  await using world = await wireWorld("anthropic", (count) => ({ calls: answers[count - 1] ?? [], text: ["Over."] }), {
    server: { environment: config.environment },
  });
  const asked: ConfirmationQuestion[] = [];
  const editor = {
    confirm: async (question: ConfirmationQuestion) => {
      asked.push(question);
      return { answer: "yes" as const, scope: "once" as const };
    },
  };
  const signal = AbortSignal.timeout(60_000);
  const session = await AgentSession.start(
    world.server.client,
    { clientId: "a", name: "test", version: "0", editor },
    {},
    { interactive: true, signal },
  );
  const events = await Array.fromAsync(session.runTurn({ text: "change it", scenario: "CODE" }, { signal }));
  expect(endState(events)).toBe("COMPLETED");
  expect(eventsOf(events, "toolResult").map(({ output, error }) => error || output)).toEqual([
    expect.stringContaining(`${name}: [MCP server odd] Number 77.`),
    expect.stringContaining(`Loaded: ${name}`),
    "done",
    expect.stringContaining("Loaded"),
  ]);
  // Loading is no yes: the call was asked about by its own name.
  expect(asked.map(({ actionStatement }) => actionStatement)).toEqual(["Call change_thing_77 of the MCP server odd"]);
  await Array.fromAsync(session.runTurn({ text: "and now?", scenario: "CODE" }, { signal }));

  const sent = world.provider.requests.map(({ body }) => toolsOf(body));
  const [first = []] = sent;
  const named = first.filter((tool) => tool.includes("change_thing"));
  expect(named).toHaveLength(1);
  expect(named[0]).toContain('"LoadTools"');
  expect(named[0]?.match(/change_thing_/g)).toHaveLength(120);
  expect(estimateText(named[0] ?? "")).toBeLessThanOrEqual(1_500);
  // What a provider has in its cache stays the same, byte by byte.
  for (const tools of sent) expect(tools.slice(0, first.length)).toEqual(first);
  expect(sent.map((tools) => tools.slice(first.length).map((tool) => /change_thing_\d+/.exec(tool)?.[0]))).toEqual([
    [],
    [],
    ["change_thing_77"],
    ["change_thing_77"],
    ["change_thing_77", "change_thing_5"],
    ["change_thing_77", "change_thing_5"],
  ]);
});
