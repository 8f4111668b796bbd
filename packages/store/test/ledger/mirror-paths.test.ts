import { execFileSync } from "node:child_process";
import { chmod, link, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { withoutRoot } from "@gennai/testkit/without-root";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifyWorkspaceLedger } from "#audit/ledger-verify";
import { entryOf } from "../sqlite/store-fixture.ts";
import { MirrorBench } from "./mirror-bench.ts";

let bench: MirrorBench;
beforeEach(async () => {
  bench = await MirrorBench.create();
});
afterEach(() => bench[Symbol.asyncDispose]());

describe("writes nothing through", () => {
  let victim: string;
  beforeEach(async () => {
    victim = join(bench.fixture.directory, "victim");
    await writeFile(victim, "precious");
    await mkdir(dirname(bench.fixture.mirror));
  });

  it.each<[string, () => Promise<void>]>([
    ["a link in the file's place", () => symlink(victim, bench.fixture.mirror)],
    ["a dangling link", () => symlink(join(bench.fixture.directory, "created"), bench.fixture.mirror)],
    ["a hard link", () => link(victim, bench.fixture.mirror)],
    ["a directory", () => mkdir(bench.fixture.mirror)],
    ["a FIFO", async () => void execFileSync("mkfifo", [bench.fixture.mirror])],
    [
      "a link in the directory's place",
      async () => {
        await rm(dirname(bench.fixture.mirror), { recursive: true });
        await mkdir(join(bench.fixture.directory, "elsewhere"));
        await symlink(join(bench.fixture.directory, "elsewhere"), dirname(bench.fixture.mirror));
      },
    ],
    [
      "a file in the directory's place",
      async () => {
        await rm(dirname(bench.fixture.mirror), { recursive: true });
        await writeFile(dirname(bench.fixture.mirror), "");
      },
    ],
  ])("%s, says so once, and goes on", async (_name, spoil) => {
    await spoil();
    await bench.fixture.record(bench.store, 2);
    await bench.fixture.record(bench.store, 2);
    expect(bench.fixture.warnings).toHaveLength(1);
    expect(await readFile(victim, "utf8")).toBe("precious");
    expect(await readdir(bench.fixture.directory)).not.toContain("created");
    expect(await readdir(join(bench.fixture.directory, "elsewhere")).catch(() => [])).toEqual([]);
    const location = { workspaceRoot: bench.fixture.root, stateDir: bench.fixture.stateDir };
    expect((await verifyWorkspaceLedger(location)).status).toBe("unsafe_path");

    await rm(dirname(bench.fixture.mirror), { recursive: true });
    await bench.fixture.record(bench.store, 1);
    await bench.expectSound(5);
  });
});

const git = (cwd: string, ...args: string[]) => execFileSync("git", args, { cwd });

it.each([
  ["in its place", "part/workspace"],
  ["in a parent's place", "part"],
])("once the workspace's path leads elsewhere: by a link %s, nothing is written there", async (_name, replaced) => {
  const root = join(bench.fixture.directory, "part", "workspace");
  await mkdir(root, { recursive: true });
  await bench.store.log.create({ sessionId: "moved", workspaceRoot: root, time: 1 });
  const elsewhere = join(bench.fixture.directory, "elsewhere");
  await mkdir(join(elsewhere, "workspace"), { recursive: true });
  git(join(elsewhere, "workspace"), "init", "-q");
  const names = await readdir(elsewhere, { recursive: true });
  const exclude = join(elsewhere, "workspace", ".git", "info", "exclude");
  const text = await readFile(exclude, "utf8");

  await rename(join(bench.fixture.directory, replaced), join(bench.fixture.directory, "was"));
  await symlink(
    replaced === "part" ? elsewhere : join(elsewhere, "workspace"),
    join(bench.fixture.directory, replaced),
  );
  const batch = { events: [], ledger: [entryOf(1)], durable: true };
  await bench.store.log.append("moved", batch, { seq: 0, epoch: 1 });
  await bench.store.log.append("moved", batch, { seq: 0, epoch: 1 });
  await bench.store.flushLedgers();
  expect(bench.fixture.warnings).toEqual([expect.stringContaining("leads elsewhere")]);
  expect(await readdir(elsewhere, { recursive: true })).toEqual(names);
  expect(await readFile(exclude, "utf8")).toBe(text);
  const report = await verifyWorkspaceLedger({ workspaceRoot: root, stateDir: bench.fixture.stateDir });
  expect(report).toMatchObject({ status: "unsafe_path" });
});

it("says once that a workspace cannot be written, and goes on", async () => {
  await chmod(bench.fixture.root, 0o500);
  await withoutRoot(bench.fixture.directory, async () => {
    await bench.fixture.record(bench.store, 2);
    await bench.fixture.record(bench.store, 2);
  });
  await chmod(bench.fixture.root, 0o700);
  expect(bench.fixture.warnings).toEqual([expect.stringContaining("EACCES")]);
  await bench.fixture.record(bench.store, 1);
  await bench.expectSound(5);
});

it("goes on when the workspace is gone", async () => {
  await rm(bench.fixture.root, { recursive: true });
  await bench.fixture.record(bench.store, 2);
  expect(bench.fixture.warnings).toEqual([expect.stringContaining("ENOENT")]);
  await mkdir(bench.fixture.root);
  await bench.fixture.record(bench.store, 1);
  await bench.expectSound(3);
});
