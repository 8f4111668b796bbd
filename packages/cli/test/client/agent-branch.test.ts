import { execFileSync } from "node:child_process";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { prepareAgentBranch, wayBack } from "#client/agent-branch";

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

test("a branch that was made for nothing can be left as the user is told", async () => {
  await using repository = await temporaryRepository({ "a.txt": "one\n" });
  const back = wayBack(repository.root, await prepare(repository.root));
  execFileSync("sh", ["-c", back ?? "false"], { cwd: repository.root });
  expect(await repository.git("branch", "--format=%(refname:short)")).toBe("main");
  const quoted = await prepare(repository.root, { branch: "it's" });
  expect(wayBack(repository.root, quoted)).toContain(`git branch -d 'it'\\''s'`);
  await repository.git("commit", "--quiet", "--allow-empty", "--message", "work");
  expect(wayBack(repository.root, quoted)).toBeUndefined();
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
  expect(wayBack(unborn.root, made)).toBeUndefined();
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
  await expect(prepare(repository.root)).rejects.toThrow(/could not switch to ai-agent\/fix-it/);
  expect(await repository.read("a.txt")).toBe("mine\n");
});
