import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { put, treeOf } from "../../../store/test/checkpoints/tree-on-disk.ts";
import { world } from "./restore-world.ts";

test("a process killed in the middle of a snapshot leaves one that works", async () => {
  const { root, command, restore } = world();
  for (let index = 0; index < 300; index += 1) put(root, `d${index % 7}/f${index}`, { text: `${index}`.repeat(500) });
  const place = { stateDir: join(root, "..", "state"), root };
  const before = treeOf(root);
  for (const delay of [60, 90, 120, 150]) {
    const script = `
      import { WorkspaceCheckpoints } from ${JSON.stringify(import.meta.resolve("@gennai/store/checkpoints/workspace-checkpoints"))};
      const checkpoints = new WorkspaceCheckpoints(${JSON.stringify(place)});
      process.stdout.write("ready");
      for (;;) await checkpoints.open("s", new AbortController().signal);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    await new Promise((resolve) => setTimeout(resolve, delay));
    child.kill("SIGKILL");
    await once(child, "close");
  }
  const id = await command(() => {
    for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
  });
  expect(await restore([id])).toEqual({ skipped: [] });
  expect(treeOf(root)).toEqual(before);
});
