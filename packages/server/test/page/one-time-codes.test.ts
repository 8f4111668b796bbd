import { type Identity, oneUser } from "@gennai/sessions/session/identity";
import { expect, test } from "vitest";
import { OneTimeCodes } from "#page/one-time-codes";

function codesAt(clock: { now: number }, limit = 3): OneTimeCodes {
  return new OneTimeCodes({ lifetimeMs: 1000, limit, now: () => clock.now });
}

test("a code is good once", () => {
  const codes = codesAt({ now: 0 });
  const [one, other] = [codes.issue(oneUser), codes.issue(oneUser)];
  expect(one).toMatch(/^[\w-]{32}$/);
  expect([codes.redeem(one), codes.redeem(one), codes.redeem(other)]).toEqual([oneUser, undefined, oneUser]);
});

test.each(["", "x", "A".repeat(32)])("a guess is none: %j", (guess) => {
  const codes = codesAt({ now: 0 });
  const code = codes.issue(oneUser);
  expect([codes.redeem(guess), codes.redeem(code.slice(1)), codes.redeem(`${code}A`)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(codes.redeem(code)).toBe(oneUser);
});

test("a code is good for its time", () => {
  const clock = { now: 0 };
  const codes = codesAt(clock);
  const [early, late] = [codes.issue(oneUser), codes.issue(oneUser)];
  clock.now = 999;
  expect(codes.redeem(early)).toBe(oneUser);
  clock.now = 1000;
  expect(codes.redeem(late)).toBeUndefined();
});

test("the oldest of too many is good no more", () => {
  const codes = codesAt({ now: 0 }, 2);
  const [first, second, third] = [codes.issue(oneUser), codes.issue(oneUser), codes.issue(oneUser)];
  expect([codes.redeem(first), codes.redeem(second), codes.redeem(third)]).toEqual([undefined, oneUser, oneUser]);
});

test("each code is good in the name of the one who had it made, and nobody pushes out another's", () => {
  const codes = codesAt({ now: 0 }, 2);
  const person = (user: string, tenant = "acme"): Identity => ({
    tenant,
    user,
    isAdmin: false,
    isApprover: false,
    expires: 1,
  });
  const [ada, eve, otherAda] = [person("ada"), person("eve"), person("ada", "other")];
  const own = codes.issue(ada);
  const [first, second, third] = [codes.issue(eve), codes.issue(eve), codes.issue(eve)];
  const elsewhere = codes.issue(otherAda);
  expect([codes.redeem(own), codes.redeem(elsewhere)]).toEqual([ada, otherAda]);
  expect([first, second, third].map((code) => codes.redeem(code))).toEqual([undefined, eve, eve]);
});
