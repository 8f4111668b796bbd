import { expect, test } from "vitest";
import { KeyArming } from "#commands/conversation/input/key-arming";

test("a key answers half a second after the question was shown, and after the last key", () => {
  const arming = new KeyArming(1000, 900);
  expect([1000, 1499, 1500, 9000].map((now) => arming.left(now))).toEqual([500, 1, 0, 0]);
  arming.typed(1600);
  expect([1600, 2099, 2100].map((now) => arming.left(now))).toEqual([500, 1, 0]);
  // Somebody was typing when it came.
  expect(new KeyArming(1000, 1000).left(1400)).toBe(100);
});
