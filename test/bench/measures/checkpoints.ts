import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { WorkspaceCheckpoints } from "@gennai/store/checkpoints/workspace-checkpoints";
import type { BenchWorld } from "../bench-world.ts";
import type { Reading } from "../table/reading.ts";
import { median } from "../table/statistics.ts";
import { timed } from "../timed.ts";

const run = promisify(execFile);

const files = 2_000;

/** What checkpoints add to a command in a tree of 2,000 files. The floor is the command alone, by turns with it. */
export async function measureCheckpoints(world: BenchWorld): Promise<readonly Reading[]> {
  const root = world.directory();
  for (let index = 0; index < files; index += 1) {
    mkdirSync(join(root, `d${index % 50}`), { recursive: true });
    writeFileSync(join(root, `d${index % 50}`, `file-${index}.ts`), `export const value = ${index};\n`.repeat(40));
  }
  await using checkpoints = new WorkspaceCheckpoints({ stateDir: world.directory(), root });
  const { signal } = new AbortController();
  const first = await timed(() => checkpoints.open("bench", signal));
  const alone: number[] = [];
  const before: number[] = [];
  const around: number[] = [];
  for (let round = 0; round < world.choose(60, 15); round += 1) {
    const command = () => run("/bin/sh", ["-c", `echo ${round} > d1/file-1.ts`], { cwd: root });
    alone.push(await timed(command));
    let id = "";
    const start = performance.now();
    id = await checkpoints.open("bench", signal);
    await command();
    before.push(performance.now() - start);
    if (id === "") throw new Error("No checkpoint was made.");
    await checkpoints.close(id);
    around.push(performance.now() - start);
  }
  return [
    { name: "first checkpoint of 2,000 files", unit: "ms", figure: first, target: { type: "none" } },
    {
      name: "command in 2,000 files, with the checkpoint before it",
      unit: "ms",
      floor: median(alone),
      figure: median(before),
      target: { type: "none" },
    },
    {
      name: "… and the one after it, which runs beside the next request",
      unit: "ms",
      floor: median(alone),
      figure: median(around),
      target: { type: "none" },
    },
  ];
}
