import { InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { call } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { crashOptions, randomNumbers } from "../crash-options.ts";
import { CrashWorld, SessionFollower } from "./crash-world.ts";

const options = crashOptions(2);
const random = randomNumbers(options.seed);

/** Each turn looks often, so that a message is taken at any point of it. */
const looks = Array.from({ length: 12 }, () => [{ delay_ms: 15 }, call("LS", { path: "." })]).flat();

test("what was acknowledged during a turn is told to the model or still there, once, after a kill at any moment", async () => {
  await using world = await CrashWorld.open([{ match: "", steps: [...looks, { text: ["Done."] }] }]);
  await using follower = await SessionFollower.start(world, "branch", {});
  const { session } = follower;
  const outcomes = { told: 0, kept: 0 };
  for (let round = 1; round <= options.rounds; round += 1) {
    const { turnId } = await session.startTurn({ text: `round ${round}` }, { signal: AbortSignal.timeout(20_000) });
    const acknowledged: string[] = [];
    const first = Promise.withResolvers<void>();
    const saying = (async () => {
      for (let count = 1; count <= 30; count += 1) {
        const messageId = `m-${round}-${count}`;
        await world.client.queueMessage({ sessionId: session.sessionId, messageId, text: `say ${messageId}` });
        acknowledged.push(messageId);
        first.resolve();
      }
    })().catch(() => undefined);
    await first.promise;
    await new Promise((resolve) => setTimeout(resolve, random() * 120));
    await world.crash();
    await saying;
    const end = await follower.end(turnId);
    expect([InvokeState.INTERRUPTED, InvokeState.COMPLETED]).toContain(end);

    for (const messageId of acknowledged) {
      const told = follower.events.filter(
        ({ event }) => event.case === "userMessage" && event.value.messageId === messageId,
      ).length;
      const { sessionId } = session;
      const kept = await world.client.withdrawMessage({ sessionId, messageId }).then(
        ({ text }) => (text === `say ${messageId}` ? 1 : -1),
        () => 0,
      );
      expect(told + kept, messageId).toBe(1);
      outcomes[told === 1 ? "told" : "kept"] += 1;
    }
  }
  await follower.expectGapless(world);
  // Or the kills came where nothing was at stake.
  expect(outcomes.kept).toBeGreaterThan(0);
});
