import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Editor } from "@gennai/client/connection/editor";
import type { BenchWorld } from "../bench-world.ts";
import { runTurn } from "../gennai-server.ts";
import type { Reading } from "../table/reading.ts";
import { median } from "../table/statistics.ts";

/** What asking an editor for a file adds to a turn, against one bare HTTP round trip. */
export async function measureBridge(world: BenchWorld): Promise<readonly Reading[]> {
  const workspace = world.workspace();
  await using server = await world.server(workspace);
  const script = `read-${world.choose(100, 50)}`;
  const floor: number[] = [];
  const figure: number[] = [];
  for (let round = 0; round <= world.choose(5, 3); round += 1) {
    const trips: number[] = [];
    for (let trip = 0; trip < 100; trip += 1) {
      const start = performance.now();
      await (await fetch(world.modelUrl)).text();
      trips.push(performance.now() - start);
    }
    const fromDisk = world.modelRun(script);
    await runTurn(await server.session(fromDisk.baseUrl));
    const throughBridge = world.modelRun(script);
    const reads = { count: 0 };
    await runTurn(await server.session(throughBridge.baseUrl, editorOf(workspace, reads)));
    const gaps = await throughBridge.gaps();
    // The first few may come before the editor is attached.
    if (reads.count < gaps.length * 0.9)
      throw new Error(`The editor was asked ${reads.count} times in ${gaps.length} reads.`);
    if (round === 0) continue;
    floor.push(median(trips));
    figure.push(median(gaps) - median(await fromDisk.gaps()));
  }
  return [
    {
      name: "file read through the bridge (floor: a bare HTTP round trip)",
      unit: "ms",
      floor: median(floor),
      figure: median(figure),
      target: { type: "ratio", most: 4 },
    },
  ];
}

/** An editor that has every file open, unchanged, and counts how often it is asked. */
function editorOf(workspace: string, reads: { count: number }): Editor {
  return {
    async readFile({ path }) {
      reads.count += 1;
      const content = readFileSync(join(workspace, path), "utf8");
      const sha256 = createHash("sha256").update(content).digest("hex");
      return {
        content,
        source: "buffer",
        encoding: "utf8",
        version: 1,
        dirty: false,
        sha256,
        diskSha256: sha256,
        eol: "lf",
        bom: false,
        truncated: false,
        totalLines: content.split("\n").length,
      };
    },
  };
}
