import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { recoverWorkspaceJournals } from "@gennai/machine/workspace/change/recover-journals";
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

test("a process killed in the middle of a restore leaves all or nothing of it, and it is done again", async () => {
  const { root, command, restore } = world();
  for (let index = 0; index < 60; index += 1) put(root, `d${index % 7}/f${index}`, { text: `${index}` });
  const before = treeOf(root);
  const stateDir = join(root, "..", "state");
  const id = await command(() => {
    for (let index = 0; index < 60; index += 1) put(root, `d${index % 7}/f${index}`, { text: "agent" });
  });
  const changed = treeOf(root);
  const at = (name: string) => JSON.stringify(import.meta.resolve(name));
  const script = `
    import { FileContents } from ${at("#restore/file-contents")};
    import { planRestore } from ${at("#restore/restore-plan")};
    import { WorkspaceCheckpoints } from ${at("@gennai/store/checkpoints/workspace-checkpoints")};
    import { writeRestore } from ${at("#restore/write-restore")};
    import { FileBlobStore } from ${at("@gennai/store/sqlite/file-blob-store")};
    import { openLocalWorkspace } from ${at("@gennai/machine/workspace/local-workspace")};
    import { openWorkspaceRoot } from ${at("@gennai/machine/workspace/paths/workspace-root")};
    const [root, stateDir, id] = ${JSON.stringify([root, stateDir, id])};
    const options = { stateDir, home: "/nowhere" };
    const held = openWorkspaceRoot(root, options);
    const checkpoints = new WorkspaceCheckpoints({ stateDir, root });
    const contents = new FileContents(new FileBlobStore(stateDir + "/blobs"), checkpoints);
    const changes = await checkpoints.changesOf(id);
    const named = { paths: changes.map(({ path }) => path), force: true };
    const plan = await planRestore(changes, contents, { root: held, ...named });
    process.stdout.write("ready");
    const workspace = openLocalWorkspace(root, options);
    await writeRestore(plan.restores, contents, { workspace, root: held, announce: async () => undefined });`;
  for (const delay of [2, 8, 15, 30]) {
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    await new Promise((resolve) => setTimeout(resolve, delay));
    child.kill("SIGKILL");
    const [code] = await once(child, "close");
    expect(code ?? 0).toBe(0);
    recoverWorkspaceJournals(stateDir);
    const now = treeOf(root);
    expect([before, changed]).toContainEqual(now);
  }
  expect(await restore([id], { force: true })).toEqual({ skipped: [] });
  expect(treeOf(root)).toEqual(before);
});
