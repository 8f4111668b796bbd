import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test, vi } from "vitest";
import { startTurn } from "#turn/prepare-turn";

test("a session that cannot be opened keeps no other from being stopped", async () => {
  await using server = await startTestServer({ steps: [{ delay_ms: 60_000 }] });
  const { manager } = server.running;
  const { defaultSettings } = manager.services;
  const session = await manager.start(defaultSettings, "");
  const broken = await manager.start(defaultSettings, "");
  await server.restart();
  const { manager: again } = server.running;
  const running = await again.get(session.id);
  const { turnId } = await startTurn(running, {
    text: "Wait.",
    scenario: "",
    enableThinking: false,
    images: [],
    clientTurnId: "one",
  });
  const read = Promise.withResolvers<never>();
  const reading = vi.spyOn(again.services.log, "read").mockReturnValueOnce(read.promise);
  const opening = again.get(broken.id);
  await expect.poll(() => reading.mock.calls.length).toBe(1);
  const stopping = again.stop(() => true, "Enough.");
  read.reject(new Error("The log cannot be read."));
  await expect(opening).rejects.toThrow("The log cannot be read.");
  expect(await stopping).toEqual([turnId]);
});

test("a turn that waits for its session to open does not escape a stop", async () => {
  await using server = await startTestServer({ steps: [{ delay_ms: 60_000 }] });
  const { id } = await server.running.manager.start(server.running.manager.services.defaultSettings, "");
  await server.restart();
  const { manager } = server.running;
  const gate = Promise.withResolvers<void>();
  const { log } = manager.services;
  const read = log.read.bind(log);
  const reading = vi.spyOn(log, "read").mockImplementationOnce(async (...args) => {
    await gate.promise;
    return read(...args);
  });
  const started = server.client.startTurn({ sessionId: id, userInput: "Wait.", clientTurnId: "one" });
  await expect.poll(() => reading.mock.calls.length).toBeGreaterThan(0);
  expect(await manager.stop(() => true, "Enough.")).toEqual([]);
  gate.resolve();
  // Stopped before it began, or right after.
  const outcome = await started.then(
    ({ turnId }) => turnId,
    () => undefined,
  );
  const session = await manager.get(id);
  await expect.poll(() => session.turns.isBusy).toBe(false);
  if (outcome !== undefined) expect(session.state.turns.get(outcome)?.state).toBe("cancelled");
});

test("an old session goes, open or not, and one that runs a turn stays", async () => {
  await using server = await startTestServer({ steps: [{ delay_ms: 60_000 }] });
  const { defaultSettings } = server.running.manager.services;
  const start = () => server.running.manager.start(defaultSettings, "");
  const closed = await start();
  await server.restart();
  const { manager } = server.running;
  const [idle, busy] = [await start(), await start()];
  const asked = { text: "Wait.", scenario: "", enableThinking: false, images: [], clientTurnId: "one" };
  await startTurn(busy, asked);
  const { signal } = new AbortController();
  const order = { before: Date.now() + 60_000, by: "the policy acme", signal };
  expect(await manager.purgeOld({ ...order, before: 1 })).toEqual({ purged: 0, refusals: [] });
  expect(await manager.purgeOld(order)).toEqual({ purged: 2, refusals: [expect.stringMatching(/running/)] });
  for (const { id } of [closed, idle]) await expect(manager.get(id)).rejects.toThrow("no such session");
  expect((await manager.get(busy.id)).runningTurnId).toBeDefined();
  await expect(manager.purgeOld({ ...order, signal: AbortSignal.abort() })).rejects.toThrow("aborted");
});
