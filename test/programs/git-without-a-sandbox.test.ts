import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { workingTreeDiff } from "@gennai/cli/commands/run/working-tree-diff";
import { prepareBranch } from "@gennai/git/prepare-branch";
import { machineGit } from "@gennai/git/run/machine-git";
import { readWorkspaceState } from "@gennai/git/workspace-state";
import { expect, test, vi } from "vitest";
import { describeEveryPath, repositories } from "./every-path.ts";
import { hostileRepository } from "./hostile-repository.ts";

vi.mock("@gennai/machine/host/find-bubblewrap", () => ({ findBubblewrap: () => undefined }));

const { signal } = new AbortController();

test("git runs without a sandbox", async () => {
  expect((await machineGit()).sandbox === undefined).toBe(true);
});

test.each(Object.entries(repositories))("%s: a careless git runs what it names", (_kind, make) => {
  const repository = make();
  repository.careless("status");
  repository.careless("diff", "HEAD");
  expect(repository.ran()).not.toEqual([]);
});

describeEveryPath(Object.keys(repositories));

test("a repository is only what its data confirms", async () => {
  const repository = hostileRepository();
  const { root, elsewhere, git } = repository;
  const state = async (directory: string) => (await readWorkspaceState(directory, { protect: [], signal })).git;
  expect(await state(root)).toBe("ready");

  mkdirSync(join(root, "led"));
  writeFileSync(join(root, "led", ".git"), `gitdir: ${join(root, ".git")}\n`);
  expect(await state(join(root, "led"))).toBe("not-trusted");

  const lender = join(elsewhere, "lender");
  git("clone", "--quiet", "--bare", root, lender);
  const alternates = join(root, ".git", "objects", "info", "alternates");
  writeFileSync(alternates, `${join(lender, "objects")}\n`);
  expect(await state(root)).toBe("not-trusted");
  await expect(prepareBranch({ directory: root, task: "x", protect: [], signal })).rejects.toMatchObject({
    reason: "not_trusted",
    message: expect.stringContaining("git repack"),
  });
  rmSync(alternates);

  // A directory that only looks like a bare repository.
  git("clone", "--quiet", "--bare", root, join(root, "bare"));
  expect(await state(join(root, "bare"))).toBe("no-repository");

  git("config", "core.worktree", elsewhere);
  writeFileSync(join(elsewhere, "not-mine.txt"), "x\n");
  const diff = await workingTreeDiff(root, ["not-mine.txt"], { signal });
  expect(diff).toBe("");
  git("config", "--unset", "core.worktree");

  writeFileSync(join(root, ".git", "commondir"), `${lender}\n`);
  expect(await state(root)).toBe("not-trusted");
});
