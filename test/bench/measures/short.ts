import type { BenchWorld } from "../bench-world.ts";
import type { Reading } from "../table/reading.ts";
import { median } from "../table/statistics.ts";
import { type Bench, type Sample, sample } from "./sample-turns.ts";

/** Rounds begin as long as they may: each row has one at least. */
const longest = 30_000;
const mostRounds = 6;

/**
 * The turns of the long bench, few of them, for a comparison by processor time: always the same calls, so many rounds as there is time
 * for, and of each side the round that other work disturbed least.
 */
export async function measureShort(world: BenchWorld): Promise<readonly Reading[]> {
  await using server = await world.server();
  const bench: Bench = { world, server, floor: world.process("floor-agent"), floorDirectory: world.workspace() };
  await sample(bench, "read-40", 1);
  const end = performance.now() + longest;
  const rows = new Map<string, { readonly name: string; readonly sample: Sample }>();
  for (let round = 0; round < mostRounds; round += 1) {
    for (const [script, name] of scripts) {
      if (round > 0 && performance.now() > end) break;
      const row = rows.get(script) ?? { name, sample: { floor: [], figure: [], processor: { floor: [], figure: [] } } };
      const next = await sample(bench, script, 1, 3);
      rows.set(script, row);
      row.sample.floor.push(...next.floor);
      row.sample.figure.push(...next.figure);
      row.sample.processor.floor.push(...next.processor.floor);
      row.sample.processor.figure.push(...next.processor.figure);
    }
  }
  return [...rows.values()].map(({ name, sample: { floor, figure, processor } }) => ({
    name,
    unit: "ms",
    floor: median(floor.flat()),
    figure: median(figure.flat()),
    processor: { floor: Math.min(...processor.floor), figure: Math.min(...processor.figure) },
    target: { type: "none" },
  }));
}

const scripts = [
  ["read-150", "turn with one file read"],
  ["edit-20", "one-line edit in 5,000 lines"],
  ["shell-30", "shell command, not sandboxed"],
  ["reads-40", "8 parallel reads"],
] as const;
