import { writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { machineGit } from "@gennai/git/run/machine-git";
import { git } from "@gennai/git/run/run-git";
import { gitContentsGuard } from "@gennai/git/secrets/contents-guard";
import { RulesService } from "@gennai/sessions/rules/rules-service";
import { expect, test } from "vitest";
import { describeEveryPath } from "./every-path.ts";
import { hostileRepository } from "./hostile-repository.ts";

test("git runs in a sandbox", async () => {
  expect((await machineGit()).sandbox === undefined).toBe(false);
});

test("it sees the repository, and nothing beside it; it writes only where it may", async () => {
  const { root, elsewhere, write } = hostileRepository();
  const run = (...args: readonly string[]) => git(args, { directory: root });
  const other = join(elsewhere, "other.txt");
  writeFileSync(other, "of somebody else\n");
  expect(await run("hash-object", "plain.txt")).toMatchObject({ code: 0 });
  for (const path of [other, join(homedir(), ".bashrc"), "/etc/shadow"]) {
    expect(await run("hash-object", path)).not.toMatchObject({ code: 0 });
  }
  write("new.txt", "new\n");
  expect(await run("add", "new.txt")).toMatchObject({ code: 128, stderr: expect.stringContaining("Read-only") });
  expect(await git(["add", "new.txt"], { directory: root, writes: "working-tree" })).toMatchObject({ code: 0 });
});

test("the gate asks git nothing of a repository outside the workspace", async () => {
  const [own, another] = [hostileRepository(), hostileRepository()];
  await using rules = await RulesService.open({ root: own.root, home: own.elsewhere, onChange: () => {} });
  const guard = gitContentsGuard(() => rules.current());
  const names = { subcommand: "diff", names: ["diff", "--name-only", "-z"], objects: [] };
  const signal = new AbortController().signal;
  expect(await guard.printed({ ...names, directory: another.root }, { signal })).toMatchObject({ type: "unknown" });
  expect(await guard.printed({ ...names, directory: own.root }, { signal })).toEqual({ type: "none" });
});

// Those whose programs could write in the workspace, where a git that writes may write; what they name is the same without a sandbox.
describeEveryPath(["every program that settings, attributes and hooks can name", "a nested repository as a submodule"]);
