import { expect, test } from "vitest";
import { call } from "../../wire/wire-world.ts";
import { endState, runTurn, startSession } from "../rpc/session-client.ts";
import { messagesOf, providerWorld } from "./provider-world.ts";

test.each([
  { name: "the same call", at: () => 1, most: 8 },
  { name: "a cycle of two", at: (count: number) => count % 2, most: 10 },
])("$name without anything new warns the model, then ends the turn", async ({ at, most }) => {
  await using world = await providerWorld(
    (count) => ({ calls: [call(`c${count}`, "Read", { file_path: `src/${at(count)}.txt` })] }),
    { files: { "src/0.txt": "zero\n", "src/1.txt": "one\n" } },
  );
  const events = await runTurn(world.server, await startSession(world.server), "go");
  expect(endState(events)).toBe("ERROR");
  expect(events.find(({ event }) => event.case === "error")?.errorInfo).toMatchObject({ code: "loop_detected" });
  expect(world.provider.requests.length).toBeLessThanOrEqual(most);
  const last = messagesOf(world.provider.requests.at(-1));
  expect(last.filter(({ content }) => content.includes("with the same result")).map(({ role }) => role)).toEqual([
    "tool",
  ]);
});
