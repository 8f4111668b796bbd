import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test, vi } from "vitest";

const script = [{ steps: [{ text: ["Done."] }] }];

function input(clientTurnId: string) {
  return { text: "Do it.", scenario: "", enableThinking: false, images: [], clientTurnId };
}

test("a turn whose session cannot be given its title runs to its end all the same", async () => {
  await using server = await startTestServer({ script });
  const { manager } = server.running;
  const session = await manager.start(manager.services.defaultSettings, "");
  const setTitle = vi.spyOn(manager.services.log, "setTitle").mockRejectedValue(new Error("The disk is full."));
  const { turnId } = await session.startTurn(input("one"));
  await expect.poll(() => session.state.turns.get(turnId)?.state, { timeout: 10_000 }).toBe("completed");
  expect(setTitle).toHaveBeenCalled();
  expect(server.failures.splice(0)).toEqual([expect.stringContaining("The disk is full.")]);
});

test("a session whose turn is about to start is not closed as idle", async () => {
  await using server = await startTestServer({ script });
  const { manager } = server.running;
  const session = await manager.start(manager.services.defaultSettings, "");
  expect(session.isIdleFor(-1)).toBe(true);
  const begun = Promise.withResolvers<void>();
  const prepared = Promise.withResolvers<never>();
  const starting = session.startPrepared(() => {
    begun.resolve();
    return prepared.promise;
  });
  await begun.promise;
  expect(session.isIdleFor(-1)).toBe(false);
  prepared.reject(new Error("It is not ready."));
  await expect(starting).rejects.toThrow("It is not ready.");
  expect(session.isIdleFor(-1)).toBe(true);
});
