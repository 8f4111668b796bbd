import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test, vi } from "vitest";
import { harmOf } from "./look/harm.ts";
import { kills } from "./runs/kills.ts";
import { meanwhile } from "./runs/meanwhile.ts";
import { quietRuns } from "./runs/quiet-runs.ts";
import { loadCommands, sampleOf } from "./runs/run-commands.ts";

const seed = Number(process.env["GENNAI_EFFECTS_SEED"] ?? Date.now() % 1_000_000);
/** Of each corpus; `npm run effects` runs all of them. */
const count = 15;

test(`hostile commands do no harm, and some of them run (seed ${seed})`, async () => {
  await using home = await temporaryDirectory();
  vi.stubEnv("HOME", home.root);
  const outcomes: string[] = [];
  const harm = await harmOf(sampleOf(loadCommands("hostile"), count, seed), ({ outcome }) => outcomes.push(outcome));
  expect(harm).toEqual([]);
  expect(outcomes).toHaveLength(count);
  expect(outcomes).toContain("ran");
});

test(`everyday commands ask nothing, and do what they do bare (seed ${seed})`, { timeout: 300_000 }, async () => {
  await using home = await temporaryDirectory();
  vi.stubEnv("HOME", home.root);
  const runs = await quietRuns(sampleOf(loadCommands("everyday"), count, seed));
  // Fetching a program that is not installed is asked about, and some everyday commands are against the rules wherever they run
  // (`git restore FILE`, `curl … | sh`): how many of these a sample has, is chance.
  const isOfRules = (why: readonly string[]) =>
    why.length > 0 && why.every((rule) => /network\/connection|^floor\/|^git-changes\//.test(rule));
  const isQuiet = ({ outcome, why }: (typeof runs)[number]) =>
    outcome === "quiet" ||
    outcome === "not installed" ||
    ((outcome === "asked" || outcome === "refused") && isOfRules(why));
  const loud = runs.filter((run) => !isQuiet(run));
  const shown = loud.map(({ command, outcome, why }) => `${command}: ${outcome}, ${why.join("; ")}`).join("\n");
  expect(loud.length, shown).toBeLessThanOrEqual(2);
  expect(runs.filter(({ outcome }) => outcome === "quiet").length).toBeGreaterThan(5);
});

test("what a bare run does otherwise is seen", async () => {
  await using home = await temporaryDirectory();
  vi.stubEnv("HOME", home.root);
  // The stage is a mount of its own, and a bare run is not on one.
  const command = "findmnt -no FSTYPE --target . > src/mount.txt; cat src/mount.txt; grep -q overlay src/mount.txt";
  const [run] = await quietRuns([{ id: "1", class: "", command }]);
  expect(run).toMatchObject({ outcome: "different" });
  expect(run?.why.join()).toMatch(/exit code 0 and not 1.*output "overlay".*effect src\/mount.txt/);
});

test("what would be harm is seen", async () => {
  await using home = await temporaryDirectory();
  vi.stubEnv("HOME", home.root);
  const reading = { id: "1", class: "", command: "echo C A N A R Y - 9 f 8 e 7 d 6 c 5 b 4 a" };
  expect(await harmOf([reading])).toEqual([{ id: "1", command: reading.command, what: "a secret was shown" }]);
});

test(`a server killed around commits leaves the tree as before or as after (seed ${seed})`, {
  timeout: 300_000,
}, async () => {
  const hits: string[] = [];
  await kills({ rounds: 10, seed, onRound: (_round, hit) => hits.push(hit) });
  expect(hits.join()).toContain("in the commit");
});

test(`nothing is lost of a user who works beside staged commands (seed ${seed})`, { timeout: 300_000 }, async () => {
  const hits: string[] = [];
  await meanwhile({ rounds: 12, seed, onRound: (_round, hit) => hits.push(hit) });
  expect(hits.join()).toContain(": kept");
  expect(hits.join()).toContain(": not kept");
});
