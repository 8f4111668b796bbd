import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { keptRules } from "#redaction/redactor";
import { noise } from "./secret-cases.ts";

test("nothing stays of the texts that were looked at", async () => {
  const token = `gh${"p_"}${noise(36)}`;
  expect(await keptRules(token)).toHaveLength(1);
  performance.clearMarks();
  for (let round = 0; round < 300; round += 1) await keptRules(`text ${round} ${token}`);
  // What was measured of a text would stand among the process's own measures, and be kept twice.
  expect(performance.getEntries().filter(({ name }) => name.startsWith("@core"))).toEqual([]);
  const { secretLintProfiler } = await import("@secretlint/profiler");
  expect(await secretLintProfiler.getEntries()).toEqual([]);
  expect(await secretLintProfiler.getMeasures()).toEqual([]);
});

test("its memory does not grow", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const used = async (): Promise<number> => {
    for (let round = 0; round < 400; round += 1) await keptRules(`line ${round} ${noise(40)}`);
    collect();
    return process.memoryUsage().heapUsed;
  };
  await used();
  const before = await used();
  const after = await used();
  // It was 36 KB for each text.
  expect((after - before) / 400).toBeLessThan(4_000);
});
