import { expect, test } from "vitest";
import { endState, eventsOf, runTurn, startSession } from "../../e2e/rpc/session-client.ts";
import { call, type Format, wireWorld } from "../wire-world.ts";

const input = "*** Begin Patch\n*** Add File: new.txt\n+new\n*** End Patch";
const rows: readonly (readonly [Format, string, boolean])[] = [
  ["openai", "gpt-5.1-codex", true],
  ["openai-compatible", "openai/gpt-oss-120b", true],
  ["openai-compatible", "gpt-4o", false],
  ["anthropic", "claude-sonnet-4-5", false],
];

test.each(rows)("%s, %s: is told about apply_patch: %s; any model may call it", async (format, model, told) => {
  const answers = [{ calls: [call("p", "ApplyPatch", { patch: input })] }, { text: ["Done."] }];
  await using world = await wireWorld(format, answers, { model });
  const { server, provider } = world;
  const events = await runTurn(server, await startSession(server), "go");
  expect(endState(events)).toBe("COMPLETED");
  expect(eventsOf(events, "toolResult").map(({ error }) => error)).toEqual([""]);
  expect(await server.workspace.read("new.txt")).toBe("new\n");
  const names = provider.requests.map(({ body }) => JSON.stringify(body["tools"]).includes('"apply_patch"'));
  expect(names).toEqual([told, told]);
});
