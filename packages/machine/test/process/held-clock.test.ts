import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HeldClock } from "#process/held-clock";

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => vi.useRealTimers());

test("the time stands still while it is held, by however many, and goes on where it was", () => {
  const clock = new HeldClock();
  const over = vi.fn<() => void>();
  using _running = clock.start(1_000, over);
  vi.advanceTimersByTime(600);
  const [one, other] = [clock.hold(), clock.hold()];
  vi.advanceTimersByTime(60_000);
  one[Symbol.dispose]();
  vi.advanceTimersByTime(60_000);
  other[Symbol.dispose]();
  vi.advanceTimersByTime(399);
  expect(over).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(over).toHaveBeenCalledOnce();
});

test("held before it starts; over after it has ended: nothing comes", () => {
  const clock = new HeldClock();
  const over = vi.fn<() => void>();
  const held = clock.hold();
  const running = clock.start(10, over);
  vi.advanceTimersByTime(100);
  held[Symbol.dispose]();
  running[Symbol.dispose]();
  clock.hold()[Symbol.dispose]();
  vi.advanceTimersByTime(100);
  expect(over).not.toHaveBeenCalled();
});
