import { expect, test, vi } from "vitest";

/** The files that a run with this seed leaves out. */
async function waiting(seed: number): Promise<readonly string[]> {
  vi.resetModules();
  vi.stubEnv("GENNAI_SAMPLE_SEED", String(seed));
  vi.stubEnv("GENNAI_SAMPLES", "");
  const { notInThisRound } = await import("../../scripts/lib/tests/rounds.mjs");
  return notInThisRound();
}

test("a seed leaves out the same again, another one others, and each file has its turn", async () => {
  const rounds: (readonly string[])[] = [];
  for (let seed = 1; seed <= 100; seed += 1) rounds.push(await waiting(seed));
  expect(await waiting(1)).toEqual(rounds[0]);
  expect(new Set(rounds.map(String)).size).toBeGreaterThan(50);
  expect(rounds[0]?.filter((file) => rounds.every((left) => left.includes(file)))).toEqual([]);
});
