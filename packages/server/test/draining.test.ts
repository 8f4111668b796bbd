import { expect, test } from "vitest";
import { Draining } from "#draining";

test("who follows a session hears of its last turn's end before the server leaves", async () => {
  let told = false;
  // As where the end is written: readers are told in the next turn of the event loop.
  const noneRuns = async () => {
    setImmediate(() => (told = true));
    return 0;
  };
  await new Draining().begin(noneRuns, 10_000);
  expect(told).toBe(true);
});

test("it leaves when its time is up, whatever still runs", async () => {
  const draining = new Draining();
  expect(draining.begun).toBe(false);
  await draining.begin(async () => 1, 60);
  expect(() => draining.assertTurnsMayStart()).toThrow(/about to stop/);
});
