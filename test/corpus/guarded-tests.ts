import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seed } from "../sample.ts";
import { type GuardedGate, guardedCases, guardedGate, mayCome, triedHosts } from "./guarded-corpus.ts";

/** Declares a test of one of so many cases for each host. */
export function testGuarded(share: number): void {
  let gate: GuardedGate;
  beforeAll(async () => {
    gate = await guardedGate();
  });
  afterAll(async () => {
    await gate[Symbol.asyncDispose]();
  });

  describe.each(triedHosts)(`$id (one of ${share}, seed ${seed})`, (host) => {
    const sample = guardedCases().filter((_case, index) => (index + seed) % share === 0);
    test.each(sample)("$id $required: $call", async (each) => {
      const verdict = await gate.verdict(host, each.call);
      expect(mayCome(verdict, each), verdict).toBe(true);
      // Where nobody can be asked, a question is a refusal.
      if (!host.asks) expect(verdict).not.toBe("ask");
    });
  });
}
