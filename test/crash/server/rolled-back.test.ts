import { cp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { acceptRollback } from "@gennai/store/ledger/accept-rollback";
import { bash } from "@gennai/testkit/scripted-steps";
import { expect, test, vi } from "vitest";
import { CrashWorld, SessionFollower } from "./crash-world.ts";

const turns = [{ match: "", steps: [bash("echo ran >> asked.txt"), { text: ["Done."] }] }];

async function turn(world: CrashWorld, name: string): Promise<InvokeState> {
  await using follower = await SessionFollower.start(world, "branch", {
    confirm: async () => ({ answer: "yes", scope: "once" }),
  });
  const { sessionId } = follower.session;
  const { turnId } = await world.client.startTurn({ sessionId, userInput: "go", clientTurnId: name });
  return await follower.end(turnId);
}

const damages: readonly [string, (older: string, stateDir: string) => Promise<void>][] = [
  [
    "an older database",
    async (older, stateDir) => {
      for (const end of ["", "-wal", "-shm"]) await rm(join(stateDir, `gennai.db${end}`), { force: true });
      for (const name of await readdir(older)) {
        if (name.startsWith("gennai.db")) await cp(join(older, name), join(stateDir, name));
      }
    },
  ],
  ["no write-ahead log", (_older, stateDir) => rm(join(stateDir, "gennai.db-wal"))],
];

test.each(damages)("a killed server that finds %s does nothing until the loss is accepted", async (_name, damage) => {
  await using world = await CrashWorld.open(turns);
  expect(await turn(world, "one")).toBe(InvokeState.COMPLETED);
  const older = `${world.stateDir}-older`;
  // A killed server leaves its socket, which cannot be copied.
  const isCopied = (path: string) => !path.endsWith(".sock");
  await world.crash((stateDir) => cp(stateDir, older, { recursive: true, filter: isCopied }));
  expect(await turn(world, "two")).toBe(InvokeState.COMPLETED);
  await expect.poll(async () => (await world.verify()).status).toBe("ok");
  expect(await world.ready()).toEqual({ status: 200, body: { status: "ok" } });

  await world.crash((stateDir) => damage(older, stateDir));
  expect(await world.ready()).toEqual({ status: 503, body: { status: "ledger_rolled_back", ledgers_rolled_back: 1 } });
  expect(await world.verify()).toMatchObject({ status: "rolled_back" });
  await expect(turn(world, "three")).rejects.toThrow("older than what was signed");
  expect(await world.linesOf("asked.txt")).toBe(2);
  expect(await world.verify()).toMatchObject({ status: "rolled_back" });

  await acceptRollback({ stateDir: world.stateDir, now: Date.now });
  // The server looks again by itself.
  await vi.waitFor(async () => expect(await world.ready()).toMatchObject({ status: 200 }));
  expect(await turn(world, "four")).toBe(InvokeState.COMPLETED);
  await expect.poll(() => world.verify()).toMatchObject({ status: "ok", rollbacks: [{}] });
});
