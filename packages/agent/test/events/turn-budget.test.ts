import { settingDefaults } from "@gennai/protocol/model/session/session-settings";
import fc from "fast-check";
import { expect, test } from "vitest";
import { costOf } from "../../src/events/prices.ts";
import { TurnBudget } from "../../src/events/turn-budget.ts";
import { noUsage } from "../../src/usage.ts";

const prices = { currency: "EUR", input: 2, output: 10, cachedInput: 0.5, cacheWrite: 3 };

test.each([
  { name: "nothing from the cache", usage: { inputTokens: 1e6, outputTokens: 1e6 }, amount: 12 },
  { name: "half from the cache", usage: { inputTokens: 1e6, outputTokens: 0, cachedInputTokens: 5e5 }, amount: 1.25 },
  {
    name: "a cache larger than the input",
    usage: { inputTokens: 10, outputTokens: 0, cachedInputTokens: 20 },
    amount: 5e-6,
  },
  {
    name: "some read from the cache and some written there",
    usage: { inputTokens: 1e6, outputTokens: 0, cachedInputTokens: 5e5, cacheWriteTokens: 25e4 },
    amount: 1.5,
  },
])("$name costs what the user wrote", ({ usage, amount }) => {
  expect(costOf(usage, prices).amount).toBeCloseTo(amount, 12);
});

test("a long request has the rates of the highest tier that it is above", () => {
  const tier = (above: number, factor: number) => ({
    above,
    input: 2 * factor,
    output: 10,
    cachedInput: 1,
    cacheWrite: 1,
  });
  const tiered = { ...prices, tiers: [tier(1_000, 2), tier(2_000, 3)] };
  const cost = (inputTokens: number) => Math.round(costOf({ inputTokens, outputTokens: 0 }, tiered).amount * 1e6);
  expect([cost(1_000), cost(1_001), cost(2_001)]).toEqual([2_000, 4_004, 12_006]);
});

test.each([
  { name: "no limit", limits: {}, wanted: 0, gets: 0 },
  { name: "far from a limit", limits: { maxTurnTokens: 100_000 }, wanted: 0, gets: 0 },
  { name: "near a limit", limits: { maxTurnTokens: 1_100 }, wanted: 0, gets: 100 },
  { name: "near a limit, short answer wanted", limits: { maxTurnTokens: 1_100 }, wanted: 50, gets: 50 },
  { name: "near a cost", limits: { maxCost: 0.003 }, wanted: 0, gets: 100 },
  { name: "used before", limits: { maxSessionTokens: 6_000 }, wanted: 0, gets: "exceeded" },
  { name: "beyond a turn", limits: { maxTurnTokens: 1_000 }, wanted: 0, gets: "exceeded" },
])("$name: an answer of $wanted tokens gets $gets", ({ limits, wanted, gets }) => {
  const budget = new TurnBudget({
    limits: { ...settingDefaults, ...limits },
    prices,
    before: { ...noUsage, inputTokens: limits.maxSessionTokens === undefined ? 0 : 5_000 },
  });
  const place = budget.reserve(1_000, wanted);
  expect(place.type === "exceeded" ? place.type : place.maxOutputTokens).toBe(gets);
});

test("calls at once never exceed a budget together, if each keeps to what it may take", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50_000 }),
      fc.array(fc.record({ input: fc.nat(5_000), output: fc.nat(9_000), ends: fc.boolean() }), { maxLength: 30 }),
      (maxTurnTokens, calls) => {
        const budget = new TurnBudget({
          limits: { ...settingDefaults, maxTurnTokens },
          prices: undefined,
          before: noUsage,
        });
        const open: (() => void)[] = [];
        let used = 0;
        for (const { input, output, ends } of calls) {
          const place = budget.reserve(input, 0);
          if (place.type === "exceeded") continue;
          open.push(() => {
            const outputTokens = Math.min(output, place.maxOutputTokens || 8_192);
            place.used({ inputTokens: input, outputTokens });
            place.release();
            used += input + outputTokens;
          });
          if (ends) open.shift()?.();
        }
        for (const end of open) end();
        expect(used).toBeLessThanOrEqual(maxTurnTokens);
      },
    ),
  );
});
