import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { secretPath } from "@gennai/governance/command/secret-paths";
import { isZeroAccess } from "@gennai/governance/policies/files/secrets";
import type { PrintedSecrets } from "@gennai/governance/policies/git-contents";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { describe, expect, test } from "vitest";
import type { PathJudge } from "#secrets/known-secrets";
import { SecretsInGit } from "#secrets/printed-secrets";

const judge: PathJudge = (path) => {
  if (secretPath(path) !== undefined) return "refused";
  return isZeroAccess(path) ? "doubtful" : "allowed";
};

type Repository = Awaited<ReturnType<typeof temporaryRepository>>;

/** Commits all there is. */
async function commit(repository: Repository, message: string): Promise<void> {
  await repository.git("add", "-A");
  await repository.git("commit", "-q", "-m", message);
}

async function printedBy(command: string, root: string, secrets = new SecretsInGit(judge)): Promise<PrintedSecrets> {
  const found = analyseCommand(command, { cwd: root, home: "/home/dev", workspace: root }).contents;
  expect(found.length, command).toBeLessThanOrEqual(1);
  const [contents] = found;
  if (contents === undefined) return { type: "none" };
  return secrets.printed(contents, { signal: new AbortController().signal });
}

const everyday = [
  ...["git diff", "git diff HEAD", "git diff --cached", "git diff no-such-branch...HEAD", "git log -p", "git show"],
  ...["git show HEAD:src/a.ts", "git stash show -p", "git grep needle", "git cat-file -p HEAD", "git blame src/a.ts"],
  ...["git archive HEAD", "git range-diff main...HEAD"],
];

describe("a repository that knows no such file", () => {
  test("answers every question with none, an example of one beside it", async () => {
    await using repository = await temporaryRepository({
      "src/a.ts": "needle\n",
      ".env.example": "KEY=\n",
      "id_rsa.pub": "ssh-rsa x\n",
    });
    await writeFile(join(repository.root, ".env"), "KEY=1\n");
    await writeFile(join(repository.root, ".gitignore"), ".env\n");
    await writeFile(join(repository.root, "src/a.ts"), "needles\n");
    for (const command of everyday)
      expect(await printedBy(command, repository.root), command).toEqual({ type: "none" });
    expect(await printedBy("git grep --untracked --no-exclude-standard KEY", repository.root)).not.toEqual({
      type: "none",
    });
  });

  test("no repository at all", async () => {
    await using directory = await temporaryDirectory({ a: "1", b: "2" });
    expect(await printedBy("git log -p", directory.root)).toMatchObject({ type: "unknown" });
    expect(await printedBy("git archive HEAD", directory.root)).toEqual({ type: "none" });
    expect(await printedBy("git diff --no-index a b", directory.root)).toEqual({ type: "none" });
  });

  test("no commit yet", async () => {
    await using directory = await temporaryDirectory({ a: "1", ".env": "K" });
    await using repository = await temporaryRepository();
    await repository.git("update-ref", "-d", "HEAD");
    await writeFile(join(repository.root, "a"), "1");
    await repository.git("add", "a");
    expect(await printedBy("git diff --cached", repository.root)).toEqual({ type: "none" });
    expect(directory.root).not.toBe(repository.root);
  });
});

describe("a repository that knows one", () => {
  /** `.env` was committed, changed and removed; now it is on no branch's tip. */
  async function withHistory(): Promise<Repository> {
    const repository = await temporaryRepository({ "src/a.ts": "one\n" });
    await writeFile(join(repository.root, ".env"), "KEY=one\n");
    await commit(repository, "adds it");
    await writeFile(join(repository.root, ".env"), "KEY=two\n");
    await commit(repository, "changes it");
    await rm(join(repository.root, ".env"));
    await commit(repository, "removes it");
    await writeFile(join(repository.root, "src/a.ts"), "two\n");
    await commit(repository, "something else");
    await writeFile(join(repository.root, "src/a.ts"), "three\n");
    return repository;
  }

  test.each<[string, boolean]>([
    ["git diff", false],
    ["git diff HEAD~1", false],
    ["git diff HEAD~3", true],
    ["git diff HEAD~3 -- src", false],
    ["git diff HEAD~3 -- . ':(exclude,top).env'", false],
    ["git diff HEAD~3 -- '*env'", true],
    ["git diff HEAD~3 -- '.e*'", true],
    ["git diff HEAD~3 --stat", false],
    ["git diff HEAD~3 --stat -p", true],
    ["git diff -R HEAD~3 HEAD", true],
    ["git log -p", true],
    ["git log -p -1", false],
    ["git log --oneline --graph -p", true],
    ["git log -p -- src", false],
    ["git log -p -S KEY", true],
    ["git log -p --grep=adds", true],
    ["git log -p --grep=something", false],
    ["git log -p --since=2000-01-01 --format=%s", true],
    ["git show", false],
    ["git show HEAD~1", true],
    ["git show --stat HEAD~1", false],
    ["git show HEAD~1 HEAD", true],
    ["git show HEAD:src/a.ts", false],
    ["git show HEAD~3:./.env", true],
    ["git whatchanged -p", true],
    ["git diff-tree -p HEAD~1", true],
    ["git diff-tree -p HEAD", false],
    ["git diff-index -p HEAD~3", true],
    ["git reflog -p", true],
    ["git grep KEY HEAD~3", true],
    ["git grep KEY", false],
    ["git grep -l KEY HEAD~3", false],
  ])("%s", async (command, prints) => {
    await using repository = await withHistory();
    const found = await printedBy(command, repository.root);
    if (prints) expect(found).toMatchObject({ type: "some", refused: [expect.stringContaining(".env")] });
    else expect(found).toEqual({ type: "none" });
  });

  test("the object by its id, whole or shortened", async () => {
    await using repository = await withHistory();
    const id = await repository.git("rev-parse", "HEAD~3:.env");
    for (const command of [
      `git cat-file -p ${id}`,
      `git cat-file blob ${id.slice(0, 8)}`,
      `git show ${id.slice(0, 10)}`,
    ]) {
      expect(await printedBy(command, repository.root), command).toMatchObject({ type: "some" });
    }
    const other = await repository.git("rev-parse", "HEAD:src/a.ts");
    expect(await printedBy(`git cat-file -p ${other}`, repository.root)).toEqual({ type: "none" });
    expect(await printedBy("git cat-file -p HEAD~3", repository.root)).toEqual({ type: "none" });
    expect(await printedBy(`git diff ${other} ${id}`, repository.root)).toMatchObject({ type: "some" });
  });

  test("what no form of it names asks, and so does what cannot be told", async () => {
    await using repository = await withHistory();
    for (const command of ["git archive HEAD", "git diff -s -p HEAD~3", "git log -p no-such-branch", "git show $REF"]) {
      expect(await printedBy(command, repository.root), command).toMatchObject({ type: "unknown" });
    }
  });

  test("a rename of it, a stash, an index and a work tree that differ, and a copy of an example", async () => {
    await using repository = await temporaryRepository({ ".env.example": "KEY=\n", "src/a.ts": "one\n" });
    const { root } = repository;
    const secrets = new SecretsInGit(judge);
    expect(await printedBy("git diff", root, secrets)).toEqual({ type: "none" });
    // Its content is that of a file that may be read, until it changes.
    await writeFile(join(root, ".env"), "KEY=\n");
    await commit(repository, "a copy");
    expect(await printedBy("git diff", root, secrets)).toEqual({ type: "none" });
    await writeFile(join(root, ".env"), "KEY=1\n");
    expect(await printedBy("git diff", root, secrets)).toMatchObject({ type: "some", refused: [".env"] });
    await repository.git("add", "-A");
    expect(await printedBy("git diff", root, secrets)).toEqual({ type: "none" });
    expect(await printedBy("git diff --cached", root, secrets)).toMatchObject({ type: "some" });
    expect(await printedBy("git status -v", root, secrets)).toMatchObject({ type: "some" });
    const staged = await repository.git("rev-parse", ":.env");
    expect(await printedBy(`git cat-file -p ${staged}`, root, secrets)).toMatchObject({ type: "some" });
    await repository.git("stash", "-q");
    expect(await printedBy("git stash show -p", root, secrets)).toMatchObject({ type: "some" });
    expect(await printedBy("git stash list -p", root, secrets)).toMatchObject({ type: "some" });
    await repository.git("stash", "drop", "-q");
    await writeFile(join(root, ".env"), "KEY=2\n");
    await commit(repository, "its own content");
    await repository.git("mv", ".env", "settings.txt");
    expect(await printedBy("git diff --cached -M", root, secrets)).toMatchObject({ type: "some", refused: [".env"] });
  });

  test("below a directory, and from one", async () => {
    await using repository = await temporaryRepository({ "packages/core/.env": "K=1\n", "packages/core/a.ts": "1\n" });
    await writeFile(join(repository.root, "packages/core/.env"), "K=2\n");
    await writeFile(join(repository.root, "packages/core/a.ts"), "2\n");
    expect(await printedBy("git diff", repository.root)).toMatchObject({ type: "some" });
    expect(await printedBy("cd packages/core && git diff", repository.root)).toMatchObject({ type: "some" });
    expect(await printedBy("cd packages/core && git diff -- a.ts", repository.root)).toEqual({ type: "none" });
  });

  test("a registry's settings are doubtful, not refused", async () => {
    await using repository = await temporaryRepository({ ".npmrc": "save-exact=true\n" });
    await writeFile(join(repository.root, ".npmrc"), "save-exact=false\n");
    expect(await printedBy("git diff", repository.root)).toEqual({ type: "some", refused: [], doubtful: [".npmrc"] });
  });

  test("asking for names runs no program of the repository's configuration", async () => {
    await using repository = await temporaryRepository({
      "a.txt": "1\n",
      ".env": "K\n",
      ".gitattributes": "*.txt diff=x\n",
    });
    const { root } = repository;
    await writeFile(join(root, "run.sh"), `#!/bin/sh\ntouch ${join(root, "ran")}\n`);
    await chmod(join(root, "run.sh"), 0o755);
    for (const key of ["diff.external", "diff.x.textconv", "diff.x.command", "core.fsmonitor", "core.pager"]) {
      await repository.git("config", key, join(root, "run.sh"));
    }
    await writeFile(join(root, "a.txt"), "2\n");
    for (const command of ["git diff", "git log -p", "git show", "git grep 2", "git log -p -G2"]) {
      await printedBy(command, root);
    }
    await expect(rm(join(root, "ran"))).rejects.toThrow("ENOENT");
  });
});

test("an order to stop ends the look", async () => {
  await using repository = await temporaryRepository({ ".env": "K\n" });
  const [contents] = analyseCommand("git log -p", {
    cwd: repository.root,
    home: "/home/dev",
    workspace: repository.root,
  }).contents;
  if (contents === undefined) throw new Error("it prints");
  await expect(new SecretsInGit(judge).printed(contents, { signal: AbortSignal.abort() })).rejects.toThrow();
});
