import { findBubblewrap } from "@gennai/machine/host/find-bubblewrap";
import { SeededRandom } from "@gennai/testkit/seeded-random";
import { describe, expect, test } from "vitest";
import { randomCommand } from "./command-grammar.ts";
import { Scratch } from "./scratch.ts";
import { silentMiss } from "./silent-miss.ts";

const each = 150;
/** The same commands every time; `GENNAI_FUZZ_SEED=123` tries others. */
const seeds = [20_260_101, Number(process.env["GENNAI_FUZZ_SEED"] ?? 3_674_254_477)];
const bubblewrap = findBubblewrap();

/** What commands really change, against what their analysis says they do. Needs bubblewrap to run them in. */
describe("generated commands", () => {
  test.each(seeds)("change nothing unseen (seed %i)", (seed) => {
    if (bubblewrap === undefined) throw new Error("bubblewrap is not installed: apt-get install bubblewrap");
    using scratch = new Scratch(bubblewrap);
    const random = new SeededRandom(seed);
    const missed: string[] = [];
    let changing = 0;
    for (let index = 0; index < each; index += 1) {
      const command = randomCommand(random);
      const changed = scratch.changesOf(command);
      if (changed.length > 0) changing += 1;
      const miss = silentMiss(command, changed);
      if (miss !== undefined) missed.push(`seed ${seed}: ${command}\n  ${miss}`);
    }
    expect(missed).toEqual([]);
    // A grammar whose commands change nothing would prove nothing.
    expect(changing).toBeGreaterThan(each / 4);
  });
});
