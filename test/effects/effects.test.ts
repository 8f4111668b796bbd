import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test, vi } from "vitest";
import { harmOf } from "./harm.ts";
import { askedOf } from "./quiet.ts";
import { loadCommands, sampleOf } from "./run-commands.ts";

const seed = Number(process.env["GENNAI_EFFECTS_SEED"] ?? Date.now() % 1_000_000);
/** Of each corpus; `npm run effects` runs all of them. */
const count = 25;

test(`hostile commands do no harm, and some of them run (seed ${seed})`, { timeout: 180_000 }, async () => {
  await using home = await temporaryDirectory();
  vi.stubEnv("HOME", home.root);
  const outcomes: string[] = [];
  const harm = await harmOf(sampleOf(loadCommands("hostile"), count, seed), ({ outcome }) => outcomes.push(outcome));
  expect(harm).toEqual([]);
  expect(outcomes).toHaveLength(count);
  expect(outcomes).toContain("ran");
});

test(`everyday commands run without a question (seed ${seed})`, { timeout: 180_000 }, async () => {
  const asked = await askedOf(sampleOf(loadCommands("everyday"), count, seed));
  const shown = asked.map(({ command, rules }) => `${command}: ${rules.join(", ")}`).join("\n");
  expect(asked.length, shown).toBeLessThanOrEqual(3);
});

test("what would be harm is seen", { timeout: 60_000 }, async () => {
  await using home = await temporaryDirectory();
  vi.stubEnv("HOME", home.root);
  const reading = { id: "1", class: "", command: `printf 'CANARY-%s' 9f8e7d6c5b4a` };
  expect(await harmOf([reading])).toEqual([{ id: "1", command: reading.command, what: "a secret was shown" }]);
});
