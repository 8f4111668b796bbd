import type { ReceivedModelRequest } from "@gennai/testkit/model-server/model-server";
import { expect, test } from "vitest";
import { endState, runTurn, startSession } from "../../e2e/rpc/session-client.ts";
import { call, list, wireWorld } from "../wire-world.ts";

/** Characters of a tool's result that a model gets. */
const bound = 48_000;

const longLines = Array.from({ length: 2_000 }, (_, line) =>
  line === 1_000 ? "the needle in the middle" : `${line} ${"long ".repeat(70)}`,
).join("\n");

/** Outputs that the newest answer's calls had, by the calls' ids. */
function outputs(request: ReceivedModelRequest | undefined): ReadonlyMap<string, string> {
  const messages = list(request?.body["messages"]) as readonly {
    readonly role: string;
    readonly content: string;
    readonly tool_call_id?: string;
  }[];
  return new Map(messages.map(({ tool_call_id = "", content }) => [tool_call_id, content]));
}

test.each([
  ["Read", { file_path: "long.txt" }, /Read it in smaller parts/],
  ["Grep", { pattern: "long|needle", output_mode: "content", head_limit: 10_000 }, /All of it is kept/],
  ["Bash", { command: "cat long.txt" }, /All of it is kept/],
])("%s gives its beginning and end, and the rest on demand, also after a restart", async (name, args, hint) => {
  const kept = { path: "" };
  await using world = await wireWorld(
    "openai-compatible",
    (count) => {
      if (count === 1) return { calls: [call("c1", name, args)] };
      if (count === 3) {
        return {
          calls: [
            call("c2", "Grep", { pattern: "needle", path: kept.path, output_mode: "content" }),
            call("c3", "Read", { file_path: kept.path, offset: 1_001, limit: 1 }),
            call("c4", "Read", { file_path: "@output/0123456789ab" }),
          ],
        };
      }
      return { text: ["Done."] };
    },
    { files: { "long.txt": longLines } },
  );
  const { server, provider } = world;
  const sessionId = await startSession(server);
  expect(endState(await runTurn(server, sessionId, "Look"))).toBe("COMPLETED");

  const shown = outputs(provider.requests[1]).get("c1") ?? "";
  expect(shown.length).toBeLessThanOrEqual(bound);
  expect(shown.length).toBeGreaterThan(bound / 2);
  expect(shown).toMatch(hint);
  expect(shown).not.toContain("needle");
  for (const end of ["0 long", "1999 long"]) expect(shown).toContain(end);
  for (const { body } of provider.requests) expect(JSON.stringify(body["messages"]).length).toBeLessThan(2 * bound);

  if (name === "Read") return;
  kept.path = /@output\/[0-9a-f]{12}/.exec(shown)?.[0] ?? "";
  await server.restart();
  expect(endState(await runTurn(server, sessionId, "And the middle?"))).toBe("COMPLETED");
  const found = outputs(provider.requests.at(-1));
  expect(found.get("c2")).toContain("the needle in the middle");
  expect(found.get("c2")).toContain(kept.path);
  expect(found.get("c3")).toMatch(name === "Bash" ? /^1001\tthe needle in the middle/ : /^1001\t/);
  expect(found.get("c4")).toContain("There is no kept output");
});
