import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test, vi } from "vitest";

test("a session that cannot be opened keeps no other from being stopped", async () => {
  await using server = await startTestServer({ script: [{ steps: [{ delay_ms: 60_000 }] }] });
  const { manager } = server.running;
  const { defaultSettings } = manager.services;
  const session = await manager.start(defaultSettings, "");
  const broken = await manager.start(defaultSettings, "");
  await server.restart();
  const { manager: again } = server.running;
  const running = await again.get(session.id);
  const { turnId } = await running.startTurn({
    ...{ text: "Wait.", scenario: "", enableThinking: false, images: [], clientTurnId: "one" },
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
