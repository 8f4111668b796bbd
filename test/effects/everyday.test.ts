import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test, vi } from "vitest";
import { sampleOf, seed } from "../../scripts/lib/tests/sample.mjs";
import { quietRuns } from "./runs/quiet-runs.ts";
import { loadCommands } from "./runs/run-commands.ts";

test(`everyday commands ask nothing and do what they do bare; what a bare run does otherwise is seen (seed ${seed})`, async () => {
  await using home = await temporaryDirectory();
  vi.stubEnv("HOME", home.root);
  // The stage is a mount of its own, and a bare run is not on one.
  const command = "findmnt -no FSTYPE --target . > src/mount.txt; cat src/mount.txt; grep -q overlay src/mount.txt";
  const alike = { id: "alike", class: "", command: "printf 'b\\na\\n' > src/list.txt; sort src/list.txt" };
  const checks = [{ id: "other", class: "", command }, alike];
  const [other, same, ...runs] = await quietRuns([...checks, ...sampleOf(loadCommands("everyday"), 4)]);
  expect(other).toMatchObject({ outcome: "different" });
  expect(same).toMatchObject({ outcome: "quiet" });
  expect(other?.why.join()).toMatch(/exit code 0 and not 1.*output "overlay".*effect src\/mount.txt/);
  // Fetching a program that is not installed is asked about, and some everyday commands are against the rules wherever they run
  // (`curl … | sh`), or here (`git restore FILE` of a changed file): how many of these a sample has, is chance.
  const isOfRules = (why: readonly string[]) =>
    why.length > 0 &&
    why.every((rule) => /network\/connection|^floor\/|^git-changes\/|^found\/thrown-away$/.test(rule));
  const isQuiet = ({ outcome, why }: (typeof runs)[number]) =>
    outcome === "quiet" ||
    outcome === "not installed" ||
    ((outcome === "asked" || outcome === "refused") && isOfRules(why));
  const loud = runs.filter((run) => !isQuiet(run));
  const shown = loud.map(({ command, outcome, why }) => `${command}: ${outcome}, ${why.join("; ")}`).join("\n");
  expect(loud.length, shown).toBeLessThanOrEqual(Math.max(2, Math.floor(runs.length / 8)));
});
