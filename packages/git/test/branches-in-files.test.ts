import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { describe, expect, it } from "vitest";
import { branchesInFiles } from "#branches-in-files";

type Git = (...args: readonly string[]) => void;

async function repository(change: (git: Git, root: string) => void) {
  const directory = await temporaryDirectory();
  const git: Git = (...args) => {
    const identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"];
    execFileSync("git", [...identity, ...args], { cwd: directory.root, stdio: "pipe" });
  };
  git("init", "-q", "-b", "work");
  git("commit", "-q", "--allow-empty", "-m", "one");
  change(git, directory.root);
  return directory;
}

describe("branchesInFiles", () => {
  it.each<[name: string, change: (git: Git) => void, remoteDefaults: readonly string[], more?: readonly string[]]>([
    ["as git makes it", () => undefined, []],
    ["with packed refs", (git) => git("pack-refs", "--all"), []],
    [
      "with more branches, of which some are packed",
      (git) => {
        for (const name of ["other", "work-2", "work-3/a"]) git("branch", name);
        git("pack-refs", "--all");
        git("branch", "word");
      },
      [],
      ["word", "work-2", "work-3/a"],
    ],
    [
      "with remotes",
      (git) => {
        for (const [remote, branch] of [
          ["origin", "trunk"],
          ["team/b", "release/1"],
        ] as const) {
          git("update-ref", `refs/remotes/${remote}/${branch}`, "HEAD");
          git("symbolic-ref", `refs/remotes/${remote}/HEAD`, `refs/remotes/${remote}/${branch}`);
        }
      },
      ["trunk", "b/release/1"],
    ],
  ])("reads a repository %s", async (_name, change, remoteDefaults, more = []) => {
    await using found = await repository(change);
    expect(branchesInFiles(found.root, "wo")).toEqual({ current: "work", likeIt: expect.any(Array), remoteDefaults });
    expect(branchesInFiles(found.root, "wo")?.likeIt.toSorted()).toEqual([...more, "work"].toSorted());
  });

  it.each<[name: string, change: (git: Git, root: string) => void]>([
    ["that says it has no working tree", (git) => git("config", "core.bare", "true")],
    ["whose working tree is elsewhere", (git) => git("config", "core.worktree", "/tmp")],
    ["with settings in another file", (git) => git("config", "include.path", "more")],
    ["with an extension", (git) => git("config", "extensions.worktreeConfig", "true")],
    ["on no branch", (git) => git("checkout", "-q", "--detach")],
    ["without a commit", (git) => git("symbolic-ref", "HEAD", "refs/heads/new")],
    [
      "in the middle of a rebase",
      (git, root) => {
        git("checkout", "-q", "--detach");
        mkdirSync(join(root, ".git/rebase-merge"));
        writeFileSync(join(root, ".git/rebase-merge/head-name"), "refs/heads/work\n");
      },
    ],
    [
      "whose remote's branch is an old link",
      (_git, root) => {
        mkdirSync(join(root, ".git/refs/remotes/origin"), { recursive: true });
        symlinkSync("refs/remotes/origin/trunk", join(root, ".git/refs/remotes/origin/HEAD"));
      },
    ],
    ["whose remote leads on", (git) => git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/other/HEAD")],
    [
      "whose data lie elsewhere",
      (_git, root) => {
        renameSync(join(root, ".git"), join(root, "data"));
        writeFileSync(join(root, ".git"), "gitdir: data\n");
      },
    ],
    ["that borrows objects", (_git, root) => writeFileSync(join(root, ".git/objects/info/alternates"), "/tmp\n")],
  ])("leaves a repository %s to git", async (_name, change) => {
    await using found = await repository(change);
    expect(branchesInFiles(found.root, "x")).toBeUndefined();
  });

  it("leaves what is below the root, and what is no repository, to git", async () => {
    await using found = await repository((_git, path) => mkdirSync(join(path, "sub")));
    expect(branchesInFiles(join(found.root, "sub"), "x")).toBeUndefined();
    await using none = await temporaryDirectory();
    expect(branchesInFiles(none.root, "x")).toBeUndefined();
  });
});
