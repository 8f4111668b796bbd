import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test, vi } from "vitest";
import { testEveryday, testGrammar, testHostile, testKills, testMeanwhile } from "./effect-tests.ts";
import { harmOf } from "./look/harm.ts";
import { quietRuns } from "./runs/quiet-runs.ts";

const timeout = 300_000;

testHostile(timeout, 6);
testEveryday(timeout, 6);
testGrammar(timeout, 600);
testKills(timeout, 3);
testMeanwhile(timeout, 6);

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
