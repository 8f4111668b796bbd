import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { BranchChoice } from "../../../../packages/vscode/src/git/branch-choices.ts";
import { GitBranchMode } from "../../../../packages/vscode/src/git/git-branch-mode.ts";
import { openSourceControl, VsCodeGit } from "../../../../packages/vscode/src/git/vscode-git.ts";
import { hostTest } from "./host-test.ts";

const execute = promisify(execFile);

/** A repository with a branch mode that takes the first choice of a type. */
async function scene() {
  const root = await realpath(await mkdtemp(join(tmpdir(), "gennai-git-")));
  const git = async (...args: readonly string[]) =>
    (
      await execute("git", ["-c", "user.name=Test", "-c", "user.email=t@localhost", ...args], { cwd: root })
    ).stdout.trim();
  await git("init", "--quiet", "--initial-branch", "main");
  await writeFile(join(root, "a.txt"), "a\n");
  await git("add", "a.txt");
  await git("commit", "--quiet", "--message", "first");
  const mode = (wanted: BranchChoice["type"]) =>
    new GitBranchMode({
      git: new VsCodeGit(),
      workspace: root,
      openScm: openSourceControl,
      openFolder: () => assert.fail("The folder can be written."),
      files: { isWritable: async () => true },
      ask: async ({ choices }) => choices.find(({ choice }) => choice.type === wanted),
    });
  return { root, git, mode, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) };
}

hostTest("git: a branch of the task's name is created and reported, and switched to again", async () => {
  await using at = await scene();
  assert.deepEqual(await at.mode("create").prepare("Fix the login!"), {
    type: "branch",
    name: "ai-agent/fix-the-login",
    how: "created",
  });
  assert.equal(await at.git("branch", "--show-current"), "ai-agent/fix-the-login");
  assert.equal(await at.mode("stay").currentBranch(), "ai-agent/fix-the-login");
  await at.git("switch", "--quiet", "main");
  const outcome = await at.mode("switch").prepare("fix the login");
  assert.deepEqual(outcome, { type: "branch", name: "ai-agent/fix-the-login", how: "switched" });
  assert.equal(await at.git("branch", "--show-current"), "ai-agent/fix-the-login");
});

hostTest("git: what stands against a switch is said, and nothing changes", async () => {
  await using at = await scene();
  await at.git("switch", "--quiet", "--create", "ai-agent/task");
  await writeFile(join(at.root, "a.txt"), "other\n");
  await at.git("commit", "--quiet", "--all", "--message", "second");
  await at.git("switch", "--quiet", "main");
  await writeFile(join(at.root, "a.txt"), "mine\n");
  await assert.rejects(at.mode("switch").prepare("task"), { code: "dirty_tree", message: /Commit or stash/ });
  assert.equal(await at.git("branch", "--show-current"), "main");
});
