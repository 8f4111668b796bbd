import { expect, test } from "vitest";
import { ledgerExitCodes } from "#commands/ledger/ledger-exit-codes";

test("there is an exit code of its own for everything that can be wrong", () => {
  const codes = Object.values(ledgerExitCodes);
  expect(new Set(codes).size).toBe(codes.length);
  expect(ledgerExitCodes.ok).toBe(0);
  expect(codes.filter((code) => code !== 0 && code < 3)).toEqual([]);
});
