import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ProcessLocks, treeLockName } from "@gennai/machine/process/locks/process-lock";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, onTestFinished, test } from "vitest";
import { addSessionWorktree, listSessionWorktrees, pruneSessionWorktrees } from "#session-worktree";

const { signal } = new AbortController();

test("a session gets a working tree and a branch of its own, and only what is clean and unused is pruned", async () => {
  await using repository = await temporaryRepository({ "a.ts": "a\n" });
  onTestFinished(() => rmSync(`${repository.root}.worktrees`, { recursive: true, force: true }));
  await repository.write("a.ts", "dirty\n");
  const add = () => addSessionWorktree({ directory: repository.root, task: "Mend the roof", signal });
  const [one, two, three] = [await add(), await add(), await add()];
  expect([one.branch, two.branch, three.branch]).toEqual([
    "ai-agent/mend-the-roof",
    "ai-agent/mend-the-roof-2",
    "ai-agent/mend-the-roof-3",
  ]);
  expect(one.path).toBe(`${repository.root}.worktrees/ai-agent-mend-the-roof`);
  expect(await repository.git("symbolic-ref", "--short", "HEAD")).toBe("main");
  expect(await repository.read("a.ts")).toBe("dirty\n");
  expect(await listSessionWorktrees(one.path, signal)).toEqual([one, two, three]);

  writeFileSync(join(two.path, "new.ts"), "not committed\n");
  await using state = await temporaryDirectory();
  const prune = async () =>
    (await pruneSessionWorktrees(repository.root, { stateDir: state.root, signal })).map((each) => each.state);
  const turn = new ProcessLocks(join(state.root, "locks")).tryAcquire(treeLockName(three.path), "runs a turn");
  if (turn.type !== "acquired") throw new Error("nobody else can have it");
  expect(await prune()).toEqual(["removed", "has-changes", "in-use"]);
  expect([one, two, three].map(({ path }) => existsSync(path))).toEqual([false, true, true]);
  rmSync(join(two.path, "new.ts"));
  turn.lock[Symbol.dispose]();
  expect(await prune()).toEqual(["removed", "removed"]);
  expect(existsSync(`${repository.root}.worktrees`)).toBe(false);
  expect(await repository.git("branch", "--list", "ai-agent/*", "--format=%(refname:short)")).toContain(
    "mend-the-roof-2",
  );
});

test("a working tree whose .git leads elsewhere stays, and keeps no other from being pruned", async () => {
  await using repository = await temporaryRepository({ "a.ts": "a\n" });
  await using other = await temporaryRepository({ "a.ts": "a\n" });
  onTestFinished(() => rmSync(`${repository.root}.worktrees`, { recursive: true, force: true }));
  const add = () => addSessionWorktree({ directory: repository.root, task: "x", signal });
  const [one, two, three, four] = [await add(), await add(), await add(), await add()];
  writeFileSync(join(one.path, ".git"), `gitdir: ${other.root}/.git\n`);
  writeFileSync(join(two.path, ".git"), readFileSync(join(four.path, ".git")));
  rmSync(join(three.path, ".git"));
  await using state = await temporaryDirectory();
  const pruned = await pruneSessionWorktrees(repository.root, { stateDir: state.root, signal });
  expect(pruned.map(({ state }) => state)).toEqual(["kept-by-git", "kept-by-git", "has-changes", "removed"]);
  expect([one, two, three].map(({ path }) => existsSync(join(path, "a.ts")))).toEqual([true, true, true]);
});

test("without a repository, or without a commit, there is none", async () => {
  await using directory = await temporaryDirectory();
  await using empty = await temporaryRepository();
  for (const { root } of [directory, empty]) {
    await expect(addSessionWorktree({ directory: root, task: "x", signal })).rejects.toMatchObject({
      reason: "no_repository",
    });
  }
});
