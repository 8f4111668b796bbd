import * as fc from "fast-check";
import { expect, test } from "vitest";
import { AttemptBudget } from "#attempts/attempt-budget";

test("without limits, none is set", () => {
  expect(new AttemptBudget({ maxTurnTokens: 0 }, 2).begin()?.limits).toEqual({ maxTurnTokens: 0 });
});

test("what an attempt did not use is for those that begin later", () => {
  const budget = new AttemptBudget({ maxSessionTokens: 900, maxTurnTokens: 3_000, maxCost: 3 }, 3);
  const [first, second] = [budget.begin(), budget.begin()];
  expect(first?.limits).toEqual({ maxSessionTokens: 300, maxTurnTokens: 300, maxCost: 1 });
  expect(second?.limits).toEqual({ maxSessionTokens: 300, maxTurnTokens: 300, maxCost: 1 });
  first?.ended({ tokens: 100, cost: 0.5 });
  // Nobody counted what this one used: its whole share counts as used.
  second?.ended({ tokens: 0, cost: 0 });
  expect(budget.begin()?.limits).toEqual({ maxSessionTokens: 500, maxTurnTokens: 500, maxCost: 1.5 });
});

test("an attempt for which nothing is left does not begin", () => {
  const budget = new AttemptBudget({ maxSessionTokens: 1 }, 2);
  expect(budget.begin()).toBeUndefined();
  expect(budget.begin()?.limits).toMatchObject({ maxSessionTokens: 1 });
});

test("all attempts together never use more than was allowed, whatever order they end in", () => {
  const uses = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.boolean()), {
    minLength: 2,
    maxLength: 8,
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100_000 }), uses, (limit, attempts) => {
      const budget = new AttemptBudget({ maxSessionTokens: limit }, attempts.length);
      let used = 0;
      const open: (() => void)[] = [];
      for (const [part, waits] of attempts) {
        const share = budget.begin();
        const tokens = Math.floor(Number(share?.limits.maxSessionTokens ?? 0) * part);
        used += tokens;
        const end = (): void => share?.ended({ tokens, cost: 0 });
        if (waits) open.push(end);
        else end();
      }
      for (const end of open) end();
      expect(used).toBeLessThanOrEqual(limit);
    }),
  );
});
