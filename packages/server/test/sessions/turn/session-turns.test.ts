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
