import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import {
  type TemporaryRepository,
  temporaryDirectory,
  temporaryRepository,
} from "@gennai/testkit/temporary-repository";
import { expect, onTestFinished, test, vi } from "vitest";
import { makeFirstCommit, maxFirstCommitFiles, planFirstCommit } from "#first-commit";

const { signal } = new AbortController();
const plan = (directory: string, staysOut = (_path: string) => false) =>
  planFirstCommit(directory, { staysOut, signal });

async function unborn(files: Readonly<Record<string, string>>, name = "Test"): Promise<TemporaryRepository> {
  const repository = await temporaryRepository();
  await repository.git("config", "user.email", "test@example.com");
  // git takes an empty name for none, and asks.
  await repository.git("config", "user.name", name);
  for (const [path, text] of Object.entries(files)) await repository.write(path, text);
  return repository;
}

async function make({ root }: Pick<TemporaryRepository, "root">): Promise<string> {
  const planned = await plan(root);
  if (planned === undefined) throw new Error("there is something to commit");
  return makeFirstCommit(root, planned);
}

const lines = (text: string): readonly string[] => text.split("\n").filter((line) => line !== "");

test("commits what is there; what is staged goes in as it is staged, or stays staged", async () => {
  await using repository = await unborn({
    ".gitignore": "made/\n",
    "made/forced.txt": "forced\n",
    "only.txt": "only in the index\n",
    "half.txt": "staged\n",
    "later.txt": "",
    "new.txt": "new\n",
  });
  const { git, root } = repository;
  await git("add", "--force", "made/forced.txt");
  await git("add", "only.txt", "half.txt");
  await git("add", "--intent-to-add", "later.txt");
  rmSync(repository.path("only.txt"));
  await repository.write("half.txt", "not staged\n");
  await repository.write("later.txt", "later\n");
  const planned = await plan(root);
  expect(planned?.files).toEqual([".gitignore", "half.txt", "later.txt", "new.txt"]);

  const commit = await make(repository);
  expect(await git("rev-parse", "main")).toBe(commit);
  expect(lines(await git("ls-tree", "-r", "--name-only", "main"))).toEqual(planned?.files);
  expect(await git("show", "main:half.txt")).toBe("staged");
  expect(await git("show", "main:later.txt")).toBe("later");
  expect(await git("show", ":only.txt")).toBe("only in the index");
  expect(await git("show", ":made/forced.txt")).toBe("forced");
  expect(lines(await git("status", "--porcelain")).toSorted()).toEqual([
    " M half.txt",
    "A  made/forced.txt",
    "AD only.txt",
  ]);
  expect(await repository.read("half.txt")).toBe("not staged\n");
  expect(readdirSync(repository.path(".git")).filter((name) => name.startsWith("gennai"))).toEqual([]);
});

test("one that fails leaves index, branch and files as they were", async () => {
  await using repository = await unborn({ "only.txt": "only in the index\n", "half.txt": "staged\n" }, "");
  const { git } = repository;
  await git("add", "--all");
  rmSync(repository.path("only.txt"));
  await repository.write("half.txt", "not staged\n");
  await repository.write("new.txt", "new\n");
  const before = await git("ls-files", "--stage");
  await expect(make(repository)).rejects.toMatchObject({ reason: "cannot_commit" });
  expect(await git("ls-files", "--stage")).toBe(before);

  // Also one that fails at its very end, where somebody else's git is writing the index.
  await git("config", "user.name", "Test");
  writeFileSync(repository.path(".git/index.lock"), "");
  await expect(make(repository)).rejects.toMatchObject({ reason: "cannot_commit" });
  rmSync(repository.path(".git/index.lock"));
  expect(await git("ls-files", "--stage")).toBe(before);
  expect(await git("rev-list", "--all", "--count")).toBe("0");
  expect(readdirSync(repository.path(".git")).filter((name) => name.startsWith("gennai"))).toEqual([]);
  await make(repository);
  expect(lines(await git("ls-tree", "-r", "--name-only", "main"))).toEqual(["half.txt", "new.txt"]);
});

test("in a directory below the repository's top, what is staged elsewhere stays staged", async () => {
  await using repository = await unborn({ "a.txt": "a\n", "sub/b.txt": "b\n", "sub/c.txt": "c\n" });
  const { git } = repository;
  await git("add", "a.txt", "sub/c.txt");
  await make({ root: repository.path("sub") });
  expect(lines(await git("ls-tree", "-r", "--name-only", "main"))).toEqual(["sub/b.txt", "sub/c.txt"]);
  expect(lines(await git("status", "--porcelain"))).toEqual(["A  a.txt"]);
});

test("files with a filter stay out: nothing is committed in plain that would be encrypted", async () => {
  await using repository = await unborn({
    ".gitattributes": "*.secret filter=crypt diff=crypt\n*.bin filter=lfs -text\nplain.bin -filter\n*.txt text\n",
    "a.secret": "plain words\n",
    "sub/.gitattributes": "inner.* filter=crypt\n",
    "sub/inner.md": "plain words\n",
    "big.bin": "big\n",
    "plain.bin": "plain\n",
    "a.txt": "a\n",
    "local.md": "plain words\n",
  });
  await repository.write(".git/info/attributes", "local.md filter=crypt\n");
  const { git, root } = repository;
  await git("config", "filter.crypt.clean", "tr a-z n-za-m");
  const planned = await plan(root);
  expect(planned?.leftOut).toEqual(["a.secret", "big.bin", "local.md", "sub/inner.md"]);
  expect(planned?.files).toEqual([".gitattributes", "a.txt", "plain.bin", "sub/.gitattributes"]);
  await make(repository);
  expect(lines(await git("ls-tree", "-r", "--name-only", "main"))).toEqual(planned?.files);
  expect(await git("rev-list", "--objects", "--all")).not.toContain("secret");
});

test("so do those that have one by the user's own attributes", async () => {
  await using home = await temporaryDirectory({
    ".gitconfig": "[core]\n\tattributesFile = ~/my-attributes\n",
    "my-attributes": "*.vault filter=crypt\n",
  });
  vi.stubEnv("HOME", home.root);
  onTestFinished(() => void vi.unstubAllEnvs());
  await using repository = await unborn({ "a.vault": "plain words\n", "a.txt": "a\n" });
  expect(await plan(repository.root)).toMatchObject({ files: ["a.txt"], leftOut: ["a.vault"] });
});

test("what became a link, a directory or a repository of its own is told as what it is", async () => {
  await using repository = await unborn({ "was/x.txt": "x\n", "turned.txt": "t\n", "plain.txt": "p\n" });
  const { git, root } = repository;
  await git("add", "was/x.txt", "turned.txt");
  rmSync(repository.path("was"), { recursive: true });
  mkdirSync(repository.path("real"));
  await repository.write("real/x.txt", "real\n");
  symlinkSync("real", repository.path("was"));
  rmSync(repository.path("turned.txt"));
  await repository.write("turned.txt/y.txt", "y\n");
  await repository.write("nested/.gitkeep", "");
  await git("init", "--quiet", "nested");
  const planned = await plan(root);
  expect(planned?.leftOut).toEqual(["nested/"]);
  expect(planned?.files).toEqual(["plain.txt", "real/x.txt", "turned.txt/y.txt", "was"]);
  await make(repository);
  expect(lines(await git("ls-tree", "-r", "--name-only", "main"))).toEqual(planned?.files);
});

test("hooks do not run", async () => {
  await using repository = await unborn({ "a.txt": "a\n" });
  for (const hook of ["pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"]) {
    writeFileSync(repository.path(`.git/hooks/${hook}`), "#!/bin/sh\ntouch ran\nexit 1\n", { mode: 0o755 });
  }
  await make(repository);
  expect(readdirSync(repository.root)).toEqual([".git", "a.txt"]);
});

test("more files than anybody reads are refused, with what to do", async () => {
  await using repository = await unborn({ "a.txt": "a\n" });
  mkdirSync(repository.path("node_modules"));
  for (let n = 0; n < maxFirstCommitFiles; n += 1) writeFileSync(repository.path(`node_modules/${n}.js`), "");
  await expect(plan(repository.root)).rejects.toMatchObject({
    reason: "cannot_commit",
    hint: expect.stringContaining(".gitignore"),
  });
  await repository.write(".gitignore", "node_modules/\n");
  expect((await plan(repository.root))?.files).toEqual([".gitignore", "a.txt"]);
});
