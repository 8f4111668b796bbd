import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test, vi } from "vitest";
import { startTurn } from "#turn/prepare-turn";

const script = [{ steps: [{ text: ["Done."] }] }];

function input(clientTurnId: string) {
  return { text: "Do it.", scenario: "", enableThinking: false, images: [], clientTurnId };
}

test("a turn whose session cannot be given its title runs to its end all the same", async () => {
  await using server = await startTestServer({ script });
  const { manager } = server.running;
  const session = await manager.start(manager.services.defaultSettings, "");
  const setTitle = vi.spyOn(manager.services.log, "setTitle").mockRejectedValue(new Error("The disk is full."));
  const { turnId } = await startTurn(session, input("one"));
  await expect.poll(() => session.state.turns.get(turnId)?.state).toBe("completed");
  expect(setTitle).toHaveBeenCalled();
  // Masked before it is told, which may take longer than the turn.
  await expect.poll(() => server.failures).toHaveLength(1);
  expect(server.failures.splice(0)).toEqual([expect.stringContaining("The disk is full.")]);
});

test("a session whose turn is about to start is not closed as idle", async () => {
  await using server = await startTestServer({ script });
  const { manager } = server.running;
  const session = await manager.start(manager.services.defaultSettings, "");
  expect(session.isIdle).toBe(true);
  const begun = Promise.withResolvers<void>();
  const prepared = Promise.withResolvers<never>();
  const starting = session.turns.start(() => {
    begun.resolve();
    return prepared.promise;
  });
  await begun.promise;
  expect(session.isIdle).toBe(false);
  prepared.reject(new Error("It is not ready."));
  await expect(starting).rejects.toThrow("It is not ready.");
  expect(session.isIdle).toBe(true);
});

test("a look at the log beside a start takes the session from nobody", async () => {
  await using server = await startTestServer({ script });
  const { manager } = server.running;
  const { log } = manager.services;
  const session = await manager.start(manager.services.defaultSettings, "");
  const takeOver = vi.spyOn(log, "takeOver");
  const append = log.append.bind(log);
  const [appending, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  vi.spyOn(log, "append").mockImplementationOnce(async (...args) => {
    const appended = await append(...args);
    appending.resolve();
    await go.promise;
    return appended;
  });
  const starting = startTurn(session, input("one"));
  await appending.promise;
  // The log has the turn's beginning, of which this server has not heard yet.
  await session.catchUp();
  go.resolve();
  const { turnId } = await starting;
  await expect.poll(() => session.state.turns.get(turnId)?.state).toBe("completed");
  expect(takeOver).not.toHaveBeenCalled();
});

test("asked for again and again while it starts, a turn is one turn, and nobody is turned away", async () => {
  await using server = await startTestServer({ script });
  const { manager } = server.running;
  const session = await manager.start(manager.services.defaultSettings, "");
  // Not through the client, which would try again by itself.
  const starts = await Promise.all(Array.from({ length: 40 }, () => startTurn(session, input("one"))));
  expect(new Set(starts.map(({ turnId }) => turnId)).size).toBe(1);
  expect(starts.filter(({ alreadyStarted }) => !alreadyStarted)).toHaveLength(1);
});
