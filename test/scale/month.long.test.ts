import { expect, it } from "vitest";
import { workForAMonth } from "./month.ts";

/** `GENNAI_SCALE_MONTH=60x50 npm test -- test/scale/month` is the full run: sessions, and turns of each. */
const [sessions = 36, turns = 5] = (process.env["GENNAI_SCALE_MONTH"] ?? "36x5").split("x").map(Number);

it(`${sessions} sessions of ${turns} turns leave a directory that is pruned, and a server that did not grow`, async () => {
  const month = await workForAMonth(sessions, turns);
  process.stdout.write(`a month: ${JSON.stringify(month)}\n`);
  const { early, late, after, pruned } = month;
  expect(late.descriptors).toBeLessThanOrEqual(early.descriptors + 8);
  expect(late.children).toBeLessThanOrEqual(early.children + 4);
  expect(after.builds).toBeGreaterThan(sessions * 1_900_000);
  expect(pruned.builds).toBeLessThan(100_000);
  expect(pruned.contents).toBe(after.contents);
  expect(month).toMatchObject({ ledger: "ok", undone: true });
});
