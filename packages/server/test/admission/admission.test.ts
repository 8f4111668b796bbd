import { describe, expect, test } from "vitest";
import { Admission } from "#admission/admission";
import { defaultLimits } from "#admission/limits";

const ada = { tenant: "acme", user: "ada" };
const eve = { tenant: "acme", user: "eve" };
const bob = { tenant: "other", user: "bob" };
const one = { tenant: "", user: "" };

const limits = {
  ...defaultLimits,
  callsPerSecond: 10,
  callsPerUser: 2,
  calls: 3,
  turnsPerUser: 2,
  turnsPerTenant: 3,
  turns: 4,
};
const now = { at: 0 };
const admission = (changes: Partial<typeof limits> = {}) =>
  new Admission({ ...limits, ...changes }, { now: () => now.at });

describe("calls under way", () => {
  test("are bounded for a user, and for all", () => {
    const door = admission();
    const held = [door.call(ada), door.call(ada)];
    expect(() => door.call(ada)).toThrow("You have the limit of 2 calls under way.");
    held.push(door.call(bob));
    expect(() => door.call(eve)).toThrow("This server has the limit of 3");
    held[0]?.[Symbol.dispose]();
    held[0]?.[Symbol.dispose]();
    door.call(eve);
    expect(() => door.call(eve)).toThrow("This server");
  });

  test("a refusal says how long to wait", () => {
    const door = admission({ callsPerUser: 1 });
    door.call(ada);
    expect(() => door.call(ada)).toThrow(expect.objectContaining({ code: "resource_exhausted", retryAfterMs: 500 }));
  });

  test("the one user of a server has the server's limits alone", () => {
    const door = admission({ calls: 50 });
    for (let count = 0; count < 50; count += 1) door.call(one);
    expect(() => door.call(one)).toThrow("This server");
  });
});

test("calls a second are bounded for each user alone, with twice as many after a pause", () => {
  const door = admission();
  const calls = (who: typeof ada): number => {
    for (let count = 0; ; count += 1) {
      try {
        door.call(who)[Symbol.dispose]();
      } catch {
        return count;
      }
    }
  };
  now.at = 0;
  expect([calls(ada), calls(ada), calls(eve)]).toEqual([20, 0, 20]);
  now.at = 500;
  expect(calls(ada)).toBe(5);
  now.at = 60_000;
  expect(calls(ada)).toBe(20);
});

test("turns are bounded for a user, a tenant, and all", () => {
  const door = admission();
  const turns = [door.turn(ada), door.turn(ada)];
  expect(() => door.turn(ada)).toThrow("You have the limit of 2 running turns.");
  turns.push(door.turn(eve));
  expect(() => door.turn(eve)).toThrow("Your tenant has the limit of 3");
  turns.push(door.turn(bob));
  expect(() => door.turn(bob)).toThrow("This server has the limit of 4");
  for (const turn of turns) turn[Symbol.dispose]();
  door.turn(ada);
});

test("a name that is a part of another's does not count for it", () => {
  const door = admission({ turnsPerUser: 1 });
  door.turn({ tenant: 'a","b', user: "c" });
  door.turn({ tenant: "a", user: 'b","c' });
  door.turn({ tenant: "a", user: "" });
});
