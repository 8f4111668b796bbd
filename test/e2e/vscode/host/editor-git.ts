import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { BranchChoice, BranchQuestion } from "../../../../packages/vscode/src/git/branch-choices.ts";
import { GitBranchMode } from "../../../../packages/vscode/src/git/git-branch-mode.ts";
import { openSourceControl, VsCodeGit } from "../../../../packages/vscode/src/git/vscode-git.ts";
import { hostTest } from "./host-test.ts";

const execute = promisify(execFile);

/** A directory with a branch mode that takes the first choice of a type. */
async function scene(options: { readonly init?: boolean; readonly commit?: boolean }) {
  const root = await realpath(await mkdtemp(join(tmpdir(), "gennai-git-")));
  const git = async (...args: readonly string[]) =>
    (
      await execute("git", ["-c", "user.name=Test", "-c", "user.email=t@localhost", ...args], { cwd: root })
    ).stdout.trim();
  if (options.init === true) await git("init", "--quiet", "--initial-branch", "main");
  if (options.commit === true) {
    await writeFile(join(root, "a.txt"), "a\n");
    await git("add", "a.txt");
    await git("commit", "--quiet", "--message", "first");
  }
  const questions: BranchQuestion[] = [];
  const mode = (wanted: BranchChoice["type"]) =>
    new GitBranchMode({
      git: new VsCodeGit(),
      workspace: root,
      openScm: openSourceControl,
      openFolder: () => assert.fail("The folder can be written."),
      files: { isWritable: async () => true },
      ask: async (question) => {
        questions.push(question);
        return question.choices.find(({ choice }) => choice.type === wanted);
      },
    });
  return { root, git, mode, questions, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) };
}

hostTest("git: a branch of the task's name is created and reported, and switched to again", async () => {
  await using at = await scene({ init: true, commit: true });
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

hostTest("git: uncommitted changes come along, and the question says how many", async () => {
  await using at = await scene({ init: true, commit: true });
  await writeFile(join(at.root, "a.txt"), "changed\n");
  await writeFile(join(at.root, "new.txt"), "new\n");
  await at.mode("create").prepare("task");
  assert.match(at.questions[0]?.title ?? "", /2 files not committed/);
  assert.equal(await at.git("branch", "--show-current"), "ai-agent/task");
  assert.match(await at.git("status", "--porcelain"), /M a\.txt[^]*new\.txt/);
});

hostTest("git: what stands against a switch is said, and nothing changes", async () => {
  await using at = await scene({ init: true, commit: true });
  await at.git("switch", "--quiet", "--create", "ai-agent/task");
  await writeFile(join(at.root, "a.txt"), "other\n");
  await at.git("commit", "--quiet", "--all", "--message", "second");
  await at.git("switch", "--quiet", "main");
  await writeFile(join(at.root, "a.txt"), "mine\n");
  await assert.rejects(at.mode("switch").prepare("task"), { code: "dirty_tree", message: /Commit or stash/ });
  assert.equal(await at.git("branch", "--show-current"), "main");
});

hostTest("git: a folder without a repository gets one, or Proposal Mode", async () => {
  await using at = await scene({});
  assert.deepEqual(await at.mode("proposal").prepare("task"), { type: "proposal" });
  assert.deepEqual(await at.mode("init").prepare("task"), { type: "branch", name: "ai-agent/task", how: "created" });
  assert.equal(await at.git("branch", "--show-current"), "ai-agent/task");
});

hostTest("git: a repository without a commit", async () => {
  await using at = await scene({ init: true });
  const outcome = await at.mode("create").prepare("task");
  assert.deepEqual(outcome, { type: "branch", name: "ai-agent/task", how: "created" });
});

hostTest("git: Source Control is one choice away", async () => {
  await using at = await scene({ init: true, commit: true });
  await writeFile(join(at.root, "a.txt"), "changed\n");
  assert.deepEqual(await at.mode("open-scm").prepare("task"), { type: "cancelled" });
  assert.equal(await at.git("branch", "--show-current"), "main");
});
