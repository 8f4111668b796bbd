import { OneTimeCodes } from "@gennai/server/page/one-time-codes";
import { expect, test } from "vitest";

function codesAt(clock: { now: number }, limit = 3): OneTimeCodes {
  return new OneTimeCodes({ lifetimeMs: 1000, limit, now: () => clock.now });
}

test("a code is good once", () => {
  const codes = codesAt({ now: 0 });
  const [one, other] = [codes.issue(), codes.issue()];
  expect(one).toMatch(/^[\w-]{32}$/);
  expect([codes.redeem(one), codes.redeem(one), codes.redeem(other)]).toEqual([true, false, true]);
});

test.each(["", "x", "A".repeat(32)])("a guess is none: %j", (guess) => {
  const codes = codesAt({ now: 0 });
  const code = codes.issue();
  expect([codes.redeem(guess), codes.redeem(code.slice(1)), codes.redeem(`${code}A`)]).toEqual([false, false, false]);
  expect(codes.redeem(code)).toBe(true);
});

test("a code is good for its time", () => {
  const clock = { now: 0 };
  const codes = codesAt(clock);
  const [early, late] = [codes.issue(), codes.issue()];
  clock.now = 999;
  expect(codes.redeem(early)).toBe(true);
  clock.now = 1000;
  expect(codes.redeem(late)).toBe(false);
});

test("the oldest of too many is good no more", () => {
  const codes = codesAt({ now: 0 }, 2);
  const [first, second, third] = [codes.issue(), codes.issue(), codes.issue()];
  expect([codes.redeem(first), codes.redeem(second), codes.redeem(third)]).toEqual([false, true, true]);
});
