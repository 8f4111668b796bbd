import { setImmediate as later } from "node:timers/promises";
import type { LoggedEvent } from "@gennai/agent/events/session-event";
import { expect, test } from "vitest";
import { EventTails } from "#sqlite/event-tails";

test("who wrote goes on before readers are told, and what it writes meanwhile they get at once", async () => {
  const tails = new EventTails();
  using tail = tails.add("session");
  tail.caughtUp();
  const order: string[] = [];
  const reader = (async () => {
    await tail.changed();
    order.push(
      `reader gets ${tail
        .takeAfter(0)
        ?.map(({ seq }) => seq)
        .join(" ")}`,
    );
  })();
  tails.publish("session", [said(1)], 10);
  // As between an outcome that is recorded and the next request to a model: no other process is waited for.
  for (let step = 0; step < 20; step += 1) await Promise.resolve();
  order.push("writer asks its model");
  tails.publish("session", [said(2)], 10);
  await Promise.all([reader, later()]);
  expect(order).toEqual(["writer asks its model", "reader gets 1 2"]);
});

function said(seq: number): LoggedEvent {
  return { seq, turnId: "turn", itemId: "item", time: 0, event: { type: "text-delta", text: "." } };
}
