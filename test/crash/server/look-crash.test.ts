import { readFile } from "node:fs/promises";
import { InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { call } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { CrashWorld, never, SessionFollower } from "./crash-world.ts";

const turns = [
  { match: "", steps: [call("Write", { file_path: "asked.txt", content: "by the agent\n" }), { text: ["Done."] }] },
];

test("what a call wrote is recorded and can be taken back after a kill while the editor is asked how it looks", async () => {
  await using world = await CrashWorld.open(turns);
  const looking = Promise.withResolvers<void>();
  await using follower = await SessionFollower.start(world, "branch", {
    listDiagnostics: async (_request, { signal }) => {
      const written = await readFile(world.workspace.path("asked.txt"), "utf8").catch(() => "");
      if (written === "") return [];
      looking.resolve();
      return new Promise<never>((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    },
  });
  const { session } = follower;
  const { turnId } = await session.startTurn({ text: "write" }, never);
  await looking.promise;
  await world.crash();
  expect(await follower.end(turnId)).toBe(InvokeState.INTERRUPTED);
  const applied = follower.events.flatMap(({ event }) => (event.case === "changeSetApplied" ? [event.value] : []));
  expect(applied.map(({ files }) => files.map(({ path }) => path))).toEqual([["asked.txt"]]);
  await world.expectSoundLedger();
  const ledger = await world.workspace.read(".orchestration/agent_trace.jsonl");
  const last = JSON.parse(ledger.trimEnd().split("\n").at(-1) ?? "{}") as unknown;
  expect(JSON.stringify(last)).toContain("asked.txt");

  await session.undo({ ...never, changeSetId: turnId });
  await expect(world.workspace.read("asked.txt")).rejects.toThrow("ENOENT");
});
