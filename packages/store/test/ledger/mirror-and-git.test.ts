import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { entryOf } from "../sqlite/store-fixture.ts";
import { MirrorBench } from "./mirror-bench.ts";

let bench: MirrorBench;
beforeEach(async () => {
  bench = await MirrorBench.create();
});
afterEach(() => bench[Symbol.asyncDispose]());

describe("git", () => {
  const git = (cwd: string, ...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd, encoding: "utf8" });

  it("does not see the ledger", async () => {
    git(bench.fixture.root, "init", "-q");
    await bench.fixture.record(bench.store, 1);
    expect(git(bench.fixture.root, "status", "--porcelain")).toBe("");
    const exclude = join(bench.fixture.root, ".git", "info", "exclude");
    expect(
      (await readFile(exclude, "utf8")).split("\n").filter((line) => line === "/.orchestration/agent_trace.jsonl"),
    ).toHaveLength(1);
  });

  it("does not see it in another repository at the same path, and stops tracking nothing", async () => {
    const { root } = bench.fixture;
    git(root, "init", "-q");
    await bench.fixture.record(bench.store, 1);
    await rm(join(root, ".git"), { recursive: true });
    git(root, "init", "-q");
    await bench.fixture.record(bench.store, 1);
    expect(git(root, "status", "--porcelain")).toBe("");
    git(root, "add", "--force", ".orchestration");
    await bench.fixture.record(bench.store, 1);
    expect(git(root, "status", "--porcelain")).toBe("AM .orchestration/agent_trace.jsonl\n");
  });

  it("does not see it in a worktree", async () => {
    const main = join(bench.fixture.directory, "main");
    await mkdir(main);
    git(main, "init", "-q");
    git(main, "commit", "-q", "--allow-empty", "-m", "x");
    await rm(bench.fixture.root, { recursive: true });
    git(main, "worktree", "add", "-q", bench.fixture.root);
    await bench.fixture.record(bench.store, 1);
    expect(git(bench.fixture.root, "status", "--porcelain")).toBe("");
    expect(await readFile(join(main, ".git", "info", "exclude"), "utf8")).toContain(
      "\n/.orchestration/agent_trace.jsonl\n",
    );
  });

  it("does not see it below the repository's root", async () => {
    git(bench.fixture.directory, "init", "-q");
    await writeFile(join(bench.fixture.root, "a file"), "");
    await bench.fixture.record(bench.store, 1);
    expect(git(bench.fixture.directory, "status", "--porcelain", "-uall", "workspace").trim()).toBe(
      '?? "workspace/a file"',
    );
    expect(await readFile(join(bench.fixture.directory, ".git", "info", "exclude"), "utf8")).toContain(
      "\n/workspace/.orchestration/agent_trace.jsonl\n",
    );
  });

  it.each<[string, (repository: string) => Promise<void>]>([
    ["a link", (repository) => symlink(join(repository, ".git"), join(bench.fixture.root, ".git"))],
    ["a file", (repository) => writeFile(join(bench.fixture.root, ".git"), `gitdir: ${join(repository, ".git")}\n`)],
  ])("leaves another repository alone that %s in the place of .git names", async (_name, name) => {
    const other = join(bench.fixture.directory, "other");
    await mkdir(other);
    git(other, "init", "-q");
    const exclude = join(other, ".git", "info", "exclude");
    const text = await readFile(exclude, "utf8");
    await name(other);
    await bench.fixture.record(bench.store, 1);
    expect(await readFile(exclude, "utf8")).toBe(text);
    await bench.expectSound(1);
  });

  it("does not see it in a submodule", async () => {
    const inner = join(bench.fixture.directory, "inner");
    await mkdir(inner);
    git(inner, "init", "-q");
    git(inner, "commit", "-q", "--allow-empty", "-m", "x");
    git(bench.fixture.directory, "init", "-q", "outer");
    const outer = join(bench.fixture.directory, "outer");
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "part");
    const root = join(outer, "part");
    await bench.store.log.create({ sessionId: "sub", workspaceRoot: root, time: 1 });
    await bench.store.log.append("sub", { events: [], ledger: [entryOf(1)], durable: true }, { seq: 0, epoch: 1 });
    await bench.store.flushLedgers();
    expect(git(root, "status", "--porcelain")).toBe("");
    expect(await readdir(join(root, ".orchestration"))).toEqual(["agent_trace.jsonl"]);
  });

  it("is not written through a link", async () => {
    git(bench.fixture.root, "init", "-q");
    const exclude = join(bench.fixture.root, ".git", "info", "exclude");
    await rm(exclude);
    await symlink(join(bench.fixture.directory, "victim"), exclude);
    await bench.fixture.record(bench.store, 1);
    expect(bench.fixture.warnings).toEqual([expect.stringContaining("info/exclude")]);
    expect(await readdir(bench.fixture.directory)).not.toContain("victim");
    await bench.expectSound(1);
  });
});
