import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { prepareAgentBranch, presentBranch } from "#client/agent-branch";

const { signal } = new AbortController();
const prepare = (workspace: string, more: { request?: string; branch?: string; protect?: readonly string[] } = {}) =>
  prepareAgentBranch({ workspace, request: "fix it", protect: [], signal, ...more });
const main = { branch: "main", commit: expect.stringMatching(/^[0-9a-f]{40}$/) };

test("leaves a protected branch, and carries what is not committed", async () => {
  await using repository = await temporaryRepository({ "a.txt": "one\n" });
  await repository.write("a.txt", "two\n");
  expect(await prepare(repository.root)).toEqual({ name: "ai-agent/fix-it", how: "created", before: main });
  expect(await repository.git("branch", "--show-current")).toBe("ai-agent/fix-it");
  expect(await repository.read("a.txt")).toBe("two\n");
  expect(await prepare(repository.root)).toEqual({ name: "ai-agent/fix-it", how: "kept" });
});

test("switches to a branch that is there already", async () => {
  await using repository = await temporaryRepository({ "a.txt": "one\n" });
  await repository.git("branch", "ai-agent/fix-it");
  expect(await prepare(repository.root)).toEqual({ name: "ai-agent/fix-it", how: "switched", before: main });
});

test("a branch whose name only begins the same is another one", async () => {
  await using repository = await temporaryRepository({ "a.txt": "one\n" });
  await repository.git("branch", "ai-agent/fix-it-again");
  expect(await prepare(repository.root)).toEqual({ name: "ai-agent/fix-it", how: "created", before: main });
});

test("a task's branch without the present commits is left alone, and numbered ones like it", async () => {
  await using repository = await temporaryRepository({ "a.txt": "one\n" });
  await repository.git("branch", "ai-agent/fix-it");
  await repository.git("branch", "ai-agent/fix-it-2");
  await repository.git("commit", "--quiet", "--allow-empty", "--message", "second");
  expect(await prepare(repository.root)).toMatchObject({ name: "ai-agent/fix-it-3", how: "created" });
  await repository.git("switch", "--quiet", "main");
  expect(await prepare(repository.root)).toMatchObject({ name: "ai-agent/fix-it-3", how: "switched" });
});

test("says whether the present branch is worked on, and changes nothing", async () => {
  await using repository = await temporaryRepository({ "a.txt": "one\n" });
  const present = () => presentBranch({ workspace: repository.root, request: "fix it", protect: [], signal });
  expect(await present()).toBeUndefined();
  expect(await repository.git("branch", "--format=%(refname:short)")).toBe("main");
  await repository.git("switch", "--quiet", "--create", "feature");
  expect(await present()).toEqual({ name: "feature", how: "kept" });
});

test.each([
  ["a merge", ["merge", "--quiet", "--no-commit", "--no-ff", "other"], "git merge --abort"],
  ["a cherry-pick", ["cherry-pick", "other"], "git cherry-pick --abort"],
  ["a rebase", ["rebase", "--quiet", "other"], "git rebase --abort"],
])("during %s, says how to end it", async (_what, command, way) => {
  await using repository = await temporaryRepository({ "a.txt": "one\n" });
  await repository.git("switch", "--quiet", "--create", "other");
  await repository.write("a.txt", "theirs\n");
  await repository.git("commit", "--quiet", "--all", "--message", "theirs");
  await repository.git("switch", "--quiet", "main");
  await repository.write("a.txt", "mine\n");
  await repository.git("commit", "--quiet", "--all", "--message", "mine");
  await repository.git(...command).catch(() => undefined);
  await expect(prepare(repository.root)).rejects.toMatchObject({
    exitCode: 1,
    next: [expect.stringContaining(way), expect.any(String)],
  });
});

test("a branch in the way of all of the agent's is named, with what to do", async () => {
  await using repository = await temporaryRepository({ "a.txt": "one\n" });
  await repository.git("branch", "ai-agent");
  await expect(prepare(repository.root)).rejects.toMatchObject({
    next: [expect.stringContaining("git branch --move ai-agent OTHER-NAME"), expect.any(String)],
  });
});

test("a tag that has the branch's name changes nothing", async () => {
  await using repository = await temporaryRepository({ "a.txt": "one\n" });
  await repository.git("tag", "main");
  await repository.git("switch", "--quiet", "--create", "feature");
  await repository.git("tag", "feature");
  expect(await prepare(repository.root)).toEqual({ name: "feature", how: "kept" });
  await repository.git("switch", "--quiet", "main");
  expect(await prepare(repository.root)).toEqual({ name: "ai-agent/fix-it", how: "created", before: main });
});

test("stays on a branch that is nobody's", async () => {
  await using repository = await temporaryRepository({ "a.txt": "one\n" });
  await repository.git("switch", "--quiet", "--create", "feature");
  expect(await prepare(repository.root)).toEqual({ name: "feature", how: "kept" });
  expect(await prepare(repository.root, { branch: "other" })).toEqual({
    name: "other",
    how: "created",
    before: { ...main, branch: "feature" },
  });
});

test("works before the first commit, and on a detached head", async () => {
  await using unborn = await temporaryRepository();
  const made = await prepare(unborn.root);
  expect(made).toEqual({ name: "ai-agent/fix-it", how: "created", before: { branch: "main", commit: undefined } });
  await using detached = await temporaryRepository({ "a.txt": "one\n" });
  await detached.git("switch", "--quiet", "--detach");
  expect(await prepare(detached.root)).toEqual({ name: "ai-agent/fix-it", how: "created" });
});

test("the remote's default branch and the user's own list are protected", async () => {
  await using repository = await temporaryRepository({ "a.txt": "one\n" });
  await repository.git("switch", "--quiet", "--create", "trunk");
  await repository.git("update-ref", "refs/remotes/upstream/trunk", "HEAD");
  await repository.git("symbolic-ref", "refs/remotes/upstream/HEAD", "refs/remotes/upstream/trunk");
  expect(await prepare(repository.root)).toMatchObject({ how: "created" });
  await repository.git("switch", "--quiet", "--create", "prod/eu");
  expect(await prepare(repository.root, { protect: ["prod/*"] })).toMatchObject({ name: "ai-agent/fix-it" });
});

test("runs no hook of the repository", async () => {
  await using repository = await temporaryRepository({ "a.txt": "one\n" });
  await repository.write(".git/hooks/post-checkout", "#!/bin/sh\ntouch hooked\n");
  await repository.git("config", "core.fsmonitor", "touch monitored; false");
  const { chmod, readdir } = await import("node:fs/promises");
  await chmod(repository.path(".git/hooks/post-checkout"), 0o755);
  await prepare(repository.root);
  expect(await readdir(repository.root)).toEqual([".git", "a.txt"]);
});

test("says both ways out where there is no repository", async () => {
  await using directory = await temporaryDirectory();
  await expect(prepare(directory.root)).rejects.toMatchObject({
    exitCode: 2,
    next: [expect.stringContaining("git init"), expect.stringContaining("--mode proposal")],
  });
});

const refused = [
  ["a protected name", "main", 2],
  ["no name at all", "a..b", 2],
  ["an option", "--orphan", 2],
] as const;

test.each(refused)("refuses %s for a branch", async (_, branch, exitCode) => {
  await using repository = await temporaryRepository({ "a.txt": "one\n" });
  await expect(prepare(repository.root, { branch })).rejects.toMatchObject({ exitCode });
  expect(await repository.git("branch", "--show-current")).toBe("main");
});

test("what git cannot carry stays, and is told", async () => {
  await using repository = await temporaryRepository({ "a.txt": "one\n" });
  await repository.git("switch", "--quiet", "--create", "ai-agent/fix-it");
  await repository.write("a.txt", "theirs\n");
  await repository.git("commit", "--quiet", "--all", "--message", "second");
  await repository.git("switch", "--quiet", "main");
  await repository.write("a.txt", "mine\n");
  const named = prepare(repository.root, { branch: "ai-agent/fix-it" });
  await expect(named).rejects.toMatchObject({
    message: expect.stringContaining("could not switch to ai-agent/fix-it"),
    next: [expect.stringContaining("Commit or stash"), expect.any(String)],
  });
  expect(await repository.read("a.txt")).toBe("mine\n");
});
