import { expect, test } from "vitest";
import { roundsOf, seed } from "../../scripts/lib/tests/sample.mjs";
import { grammarRuns } from "./runs/grammar-runs.ts";

test(`nothing of the small closed grammar writes, starts a program or shows a secret (seed ${seed})`, async () => {
  const rounds = roundsOf({ few: 200, whole: 10_000 });
  const ran: string[] = [];
  const onRound = (command: string, runs: boolean): void => void (runs && ran.push(command));
  expect(await grammarRuns({ rounds, seed, onRound })).toEqual([]);
  expect(ran.length).toBeGreaterThan(rounds / 50);
  expect(ran.some((command) => command.includes("git "))).toBe(true);
});
