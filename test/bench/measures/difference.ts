import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { unifiedDiff } from "@gennai/machine/changes/unified-diff";
import type { BenchWorld } from "../bench-world.ts";
import { largeFile, largeFileLines, lineOfLargeFile } from "../model-script.ts";
import type { Reading } from "../table/reading.ts";
import { median } from "../table/statistics.ts";
import { timed } from "../timed.ts";

const run = promisify(execFile);

/** The differences that ProposeChanges shows, against git's own. */
export async function measureDifference(world: BenchWorld): Promise<readonly Reading[]> {
  const directory = world.directory();
  const oldText = textWith(new Set());
  const newText = textWith(new Set(Array.from({ length: 50 }, (_, edit) => 50 + edit * 100)));
  const oneEdit = textWith(new Set([largeFileLines / 2]));
  writeFileSync(join(directory, "old"), oldText);
  writeFileSync(join(directory, "new"), newText);
  const floor: number[] = [];
  const many: number[] = [];
  const one: number[] = [];
  for (let round = 0; round < world.choose(100, 30); round += 1) {
    floor.push(
      await timed(async () => {
        // It exits with 1 because the files differ.
        await run("git", ["diff", "--no-index", "old", "new"], { cwd: directory }).catch(() => undefined);
      }),
    );
    many.push(await timed(() => unifiedDiff({ path: largeFile, operation: "update", oldText, newText })));
    one.push(await timed(() => unifiedDiff({ path: largeFile, operation: "update", oldText, newText: oneEdit })));
  }
  return [
    {
      name: "difference of 5,000 lines, 50 edits (floor: git)",
      unit: "ms",
      floor: median(floor),
      figure: median(many),
      target: { type: "ratio", most: 0.7 },
    },
    {
      name: "difference of 5,000 lines, 1 edit",
      unit: "ms",
      figure: median(one),
      target: { type: "most", value: 0.3 },
    },
  ];
}

function textWith(edited: ReadonlySet<number>): string {
  const lines = Array.from(
    { length: largeFileLines },
    (_, index) => `${lineOfLargeFile(index + 1, edited.has(index + 1) ? 1 : 0)}\n`,
  );
  return lines.join("");
}
