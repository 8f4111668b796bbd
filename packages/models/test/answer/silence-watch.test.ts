import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { SilenceWatch } from "#answer/silence-watch";

const limit = 100;

/** Holds this process up, as the system may. @param milliseconds */
const holdUp = (milliseconds: number): void =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

test("what arrives while the process is held up is heard before the silence counts", async () => {
  const watch = new SilenceWatch(limit);
  watch.sign();
  holdUp(3 * limit);
  // Timers that are due run before what arrived is read.
  await wait(0);
  expect(watch.signal.aborted).toBe(false);
  watch.stop();
});

test("a silence counts when nothing was heard for that long, however often something was before", async () => {
  const watch = new SilenceWatch(limit);
  for (let signs = 0; signs < 3; signs += 1) {
    watch.sign();
    holdUp(limit);
    await wait(0);
    expect(watch.signal.aborted).toBe(false);
  }
  const began = performance.now();
  watch.sign();
  await once(watch.signal, "abort");
  expect(performance.now() - began).toBeGreaterThanOrEqual(limit - 1);
});
