import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defaultRemoteBranch, readGitHead } from "#git-data/git-head";

const top = realpathSync(mkdtempSync(join(tmpdir(), "gennai-git-")));
afterAll(() => rmSync(top, { recursive: true, force: true }));
const repository = join(top, "repository");

function git(...parameters: string[]): string {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"];
  return execFileSync("git", [...identity, ...parameters], { cwd: repository, encoding: "utf8", stdio: "pipe" }).trim();
}

describe("as git sees it", () => {
  beforeAll(() => {
    mkdirSync(join(repository, "sub/deep"), { recursive: true });
    git("init", "-q", "-b", "main");
  });

  test("a branch, from before its first commit to packed refs", () => {
    expect(readGitHead(repository)).toEqual({ type: "branch", branch: "main", commit: undefined });
    git("commit", "-q", "--allow-empty", "-m", "one");
    const commit = git("rev-parse", "HEAD");
    expect(readGitHead(repository)).toEqual({ type: "branch", branch: "main", commit });
    expect(readGitHead(join(repository, "sub/deep"))).toEqual({ type: "branch", branch: "main", commit });
    git("pack-refs", "--all");
    expect(readGitHead(repository)).toEqual({ type: "branch", branch: "main", commit });
    git("checkout", "-q", "-b", "agent/some.work");
    git("commit", "-q", "--allow-empty", "-m", "two");
    expect(readGitHead(repository)).toEqual({
      type: "branch",
      branch: "agent/some.work",
      commit: git("rev-parse", "HEAD"),
    });
  });

  test("detached", () => {
    git("checkout", "-q", "--detach");
    expect(readGitHead(repository)).toEqual({ type: "detached", commit: git("rev-parse", "HEAD") });
  });

  test("another working tree of the same repository", () => {
    git("worktree", "add", "-q", "-b", "other", join(top, "tree"));
    expect(readGitHead(join(top, "tree"))).toEqual({
      type: "branch",
      branch: "other",
      commit: git("rev-parse", "other"),
    });
  });

  test("the default branch of origin, also from another working tree", () => {
    expect(defaultRemoteBranch(repository)).toBeUndefined();
    git("update-ref", "refs/remotes/origin/trunk", "HEAD");
    git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk");
    expect(defaultRemoteBranch(repository)).toBe("trunk");
    expect(defaultRemoteBranch(join(top, "tree"))).toBe("trunk");
  });
});

describe("garbage", () => {
  const place = join(top, "garbage");
  test.each([
    ["empty HEAD", { HEAD: "" }],
    ["prose", { HEAD: "hello" }],
    ["a path out of the repository", { HEAD: "ref: refs/heads/../../../../etc/passwd" }],
    ["an absolute path", { HEAD: "ref: /etc/passwd" }],
    ["control characters", { HEAD: "ref: refs/heads/a\u001bb" }],
    ["short id", { HEAD: "abc123" }],
    ["huge", { HEAD: `ref: refs/heads/${"a".repeat(10_000)}` }],
  ])("%s is not a head", (_, files) => {
    rmSync(place, { recursive: true, force: true });
    mkdirSync(join(place, ".git"), { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(place, ".git", name), text);
    expect(readGitHead(place)).toEqual({ type: "none" });
    expect(defaultRemoteBranch(place)).toBeUndefined();
  });

  test.each(["rebase-merge", "rebase-apply"])("a %s that has stopped works for its branch", (directory) => {
    rmSync(place, { recursive: true, force: true });
    mkdirSync(join(place, ".git", directory), { recursive: true });
    const commit = "a".repeat(40);
    writeFileSync(join(place, ".git/HEAD"), `${commit}\n`);
    expect(readGitHead(place)).toEqual({ type: "detached", commit });
    for (const [name, head] of [
      ["refs/heads/feature/one\n", { type: "branch", branch: "feature/one", commit }],
      ["detached HEAD\n", { type: "detached", commit }],
      ["refs/heads/../../x\n", { type: "detached", commit }],
    ] as const) {
      writeFileSync(join(place, ".git", directory, "head-name"), name);
      expect(readGitHead(place)).toEqual(head);
    }
  });

  test("refs and pointers that make no sense", () => {
    rmSync(place, { recursive: true, force: true });
    mkdirSync(join(place, ".git/refs/heads"), { recursive: true });
    writeFileSync(join(place, ".git/HEAD"), "ref: refs/heads/main\n");
    const unborn = { type: "branch", branch: "main", commit: undefined };
    writeFileSync(join(place, ".git/refs/heads/main"), "ref: refs/heads/main");
    expect(readGitHead(place)).toEqual(unborn);
    writeFileSync(join(place, ".git/refs/heads/main"), "xyz");
    writeFileSync(join(place, ".git/packed-refs"), "# pack-refs\nnonsense refs/heads/main\n");
    expect(readGitHead(place)).toEqual(unborn);
    rmSync(join(place, ".git"), { recursive: true });
    writeFileSync(join(place, ".git"), "gitdir: nowhere\n");
    expect(readGitHead(place)).toEqual({ type: "none" });
    writeFileSync(join(place, ".git"), "?");
    expect(readGitHead(place).type).toBe("none");
    expect(readGitHead(join(top, "no/such/directory"))).toEqual({ type: "none" });
  });
});
