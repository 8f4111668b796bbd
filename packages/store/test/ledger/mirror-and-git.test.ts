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
  });

  it("does not see it in another repository at the same path, and stops tracking nothing", async () => {
    const { root } = bench.fixture;
    git(root, "init", "-q");
    await bench.fixture.record(bench.store, 1);
    await rm(join(root, ".git"), { recursive: true });
    git(root, "init", "-q");
    await bench.fixture.record(bench.store, 1);
    expect(git(root, "status", "--porcelain")).toBe("");
    git(root, "add", "--force", ".orchestration/agent_trace.jsonl");
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
  });

  it("does not see it below the repository's root", async () => {
    git(bench.fixture.directory, "init", "-q");
    await writeFile(join(bench.fixture.root, "a file"), "");
    await bench.fixture.record(bench.store, 1);
    expect(git(bench.fixture.directory, "status", "--porcelain", "-uall", "workspace").trim()).toBe(
      '?? "workspace/a file"',
    );
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
    expect(await readdir(join(root, ".orchestration"))).toEqual([".gitignore", "agent_trace.jsonl"]);
  });

  it.each([
    ["a link", (path: string) => symlink("../victim", path)],
    ["the user's own rules", (path: string) => writeFile(path, "*.tmp\n")],
  ])("leaves %s alone", async (_name, make) => {
    const rules = join(bench.fixture.root, ".orchestration", ".gitignore");
    await mkdir(join(bench.fixture.root, ".orchestration"));
    await make(rules);
    await bench.fixture.record(bench.store, 1);
    expect(await readdir(bench.fixture.root)).toEqual([".orchestration"]);
    expect(await readFile(rules, "utf8").catch(() => "link")).toMatch(/^(?:link|\*\.tmp\n)$/);
    await bench.expectSound(1);
  });
});

it.each([{}, { files: ["*"] }, { files: [".orchestration"] }])("npm packs no ledger: %j", async (more) => {
  const { root } = bench.fixture;
  await writeFile(join(root, "package.json"), JSON.stringify({ name: "a", version: "1.0.0", ...more }));
  await bench.fixture.record(bench.store, 1);
  const packed = execFileSync("npm", ["pack", "--dry-run", "--json"], { cwd: root, encoding: "utf8" });
  expect(packed).toContain('"package.json"');
  expect(packed).not.toContain("agent_trace");
});
