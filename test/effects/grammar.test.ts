import { expect, test } from "vitest";
import { grammarRuns } from "./runs/grammar-runs.ts";

const seed = Number(process.env["GENNAI_EFFECTS_SEED"] ?? Date.now() % 1_000_000);

test(`nothing of the small closed grammar writes, starts a program or shows a secret (seed ${seed})`, {
  timeout: 300_000,
}, async () => {
  const ran: string[] = [];
  const onRound = (command: string, runs: boolean): void => void (runs && ran.push(command));
  expect(await grammarRuns({ rounds: 1_500, seed, onRound })).toEqual([]);
  expect(ran.length).toBeGreaterThan(30);
  expect(ran.some((command) => command.includes("git "))).toBe(true);
});
