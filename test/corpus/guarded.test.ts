import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sampleOf, seed } from "../../scripts/lib/tests/sample.mjs";
import { type GuardedGate, guardedCases, guardedGate, mayCome, triedHosts } from "./guarded-corpus.ts";

let gate: GuardedGate;
beforeAll(async () => {
  gate = await guardedGate();
});
afterAll(async () => {
  await gate[Symbol.asyncDispose]();
});

describe.each(triedHosts)(`$id (seed ${seed})`, (host) => {
  const sample = sampleOf(guardedCases(), 12);
  test.each(sample)("$id $required: $call", async (each) => {
    const verdict = await gate.verdict(host, each.call);
    expect(mayCome(verdict, each), verdict).toBe(true);
    // Where nobody can be asked, a question is a refusal.
    if (!host.asks) expect(verdict).not.toBe("ask");
  });
});
