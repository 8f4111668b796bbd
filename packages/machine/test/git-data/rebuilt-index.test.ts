import { createHash } from "node:crypto";
import { chmodSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { type TemporaryRepository, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { readGitIndex } from "#git-data/git-index";
import { rebuiltIndex } from "#git-data/rebuilt-index";

const files = {
  "a.txt": "a\n",
  "a/b.txt": "b\n",
  "a/b/c.txt": "c\n",
  "a-b/d.txt": "d\n",
  "ä/é.txt": "e\n",
  "z.txt": "z\n",
};

async function indexAfter(repository: TemporaryRepository, ...commands: readonly string[]): Promise<Buffer> {
  for (const command of commands) await repository.git(...command.split(" "));
  return readFileSync(repository.path(".git/index"));
}

/** Later than every change of a file. */
const later = 1n << 62n;

const named = (bytes: Uint8Array, name: string) => Buffer.from(bytes).includes(name, 0, "latin1");

test.each<[string, readonly string[]]>([
  ["after a commit", []],
  ["by another version", ["update-index --index-version=4"]],
  ["with a file that is added", ["add new.txt"]],
  ["with a file that is left out", ["rm -q --cached a/b/c.txt"]],
  ["after a checkout", ["checkout -q -b other HEAD~1"]],
  ["after a merge", ["checkout -q -b other HEAD~1", "merge -q main"]],
])("what git itself writes of its trees stays: %s", async (_name, commands) => {
  await using repository = await temporaryRepository(files);
  chmodSync(repository.path("a/b.txt"), 0o755);
  symlinkSync("z.txt", repository.path("a/link"));
  await repository.git("add", "--all");
  await repository.git("commit", "-qm", "second");
  writeFileSync(repository.path("new.txt"), "new\n");
  const index = await indexAfter(repository, ...commands);
  expect(named(index, "TREE")).toBe(true);
  const rebuilt = rebuiltIndex(index, { bytes: index, mtimeNs: later });
  expect(readGitIndex(rebuilt ?? index)).toEqual(readGitIndex(index));
  expect(named(rebuilt ?? Buffer.of(), "TREE")).toBe(true);
  // An older version has shorter names.
  if (index[7] !== 4) expect(rebuilt?.toString("latin1")).toBe(index.toString("latin1"));
});

test("a tree that is not that of the entries, and what a watcher saw, is left out", async () => {
  await using repository = await temporaryRepository(files);
  await repository.git("update-index", "--untracked-cache");
  const index = await indexAfter(repository, "status");
  const tree = Buffer.from(await repository.git("rev-parse", "HEAD:a/b"), "hex");
  const other = Buffer.from(await repository.git("rev-parse", "HEAD:a-b"), "hex");
  const at = index.lastIndexOf(tree);
  const content = Buffer.concat([index.subarray(0, at), other, index.subarray(at + 20, -20)]);
  const forged = Buffer.concat([content, createHash("sha1").update(content).digest()]);
  for (const [bytes, hasTrees] of [
    [index, true],
    [forged, false],
  ] as const) {
    expect(named(bytes, "UNTR")).toBe(true);
    const sound = rebuiltIndex(bytes) ?? Buffer.of();
    expect([named(sound, "UNTR"), named(sound, "TREE")]).toEqual([false, hasTrees]);
    expect(readGitIndex(sound)).toEqual(readGitIndex(index));
    writeFileSync(repository.path(".git/index"), sound);
    expect(await repository.git("status", "--porcelain")).toBe("");
    expect(await repository.git("write-tree")).toBe(await repository.git("rev-parse", "HEAD^{tree}"));
  }
});

test("an entry that says that its name is shorter than it is cannot be read", async () => {
  await using repository = await temporaryRepository(files);
  const index = await indexAfter(repository);
  const at = index.indexOf("a-b/d.txt");
  index.writeUInt16BE(5, at - 2);
  expect(readGitIndex(index)).toBeUndefined();
});

test("stat data and flags are the user's own, or there are none", async () => {
  await using repository = await temporaryRepository(files);
  const own = await indexAfter(repository, "update-index --skip-worktree z.txt");
  writeFileSync(repository.path("new.txt"), "new\n");
  writeFileSync(repository.path("later.txt"), "later\n");
  const index = await indexAfter(
    repository,
    ...["update-index --assume-unchanged a.txt", "update-index --no-skip-worktree z.txt", "add new.txt"],
    ...["update-index --skip-worktree new.txt", "add --intent-to-add later.txt"],
  );
  writeFileSync(repository.path("a.txt"), "other\n");
  for (const mtimeNs of [later, 0n]) {
    const rebuilt = rebuiltIndex(index, { bytes: own, mtimeNs }) ?? Buffer.of();
    writeFileSync(repository.path(".git/index"), rebuilt);
    expect(await repository.git("ls-files", "-v")).toBe(
      'H a-b/d.txt\nH a.txt\nH a/b.txt\nH a/b/c.txt\nH new.txt\nS z.txt\nH "\\303\\244/\\303\\251.txt"',
    );
    const stat = await repository.git("ls-files", "--debug", "--", "a.txt", "new.txt");
    expect([...stat.matchAll(/mtime: (\d+)/g)].map(([, seconds]) => seconds !== "0")).toEqual([mtimeNs > 0n, false]);
    expect((await repository.git("status", "--porcelain")).trim()).toBe("M a.txt\nA  new.txt\n?? later.txt");
  }
});

test("an index in another order, with a name twice, or with one that git does not track, cannot be read", async () => {
  await using repository = await temporaryRepository({ a: "1\n", b: "2\n" });
  const index = await indexAfter(repository);
  const renamed = (from: string, to: string): Buffer => {
    const at = index.indexOf(`\0\u0001${from}\0`, 12, "latin1") + 2;
    return Buffer.concat([index.subarray(0, at), Buffer.from(to), index.subarray(at + 1)]);
  };
  expect(rebuiltIndex(renamed("a", "a"))).toBeDefined();
  for (const [from, to] of [
    ["a", "c"],
    ["a", "b"],
    ["a", "."],
    ["a", "/"],
  ] as const) {
    expect(rebuiltIndex(renamed(from, to)), to).toBeUndefined();
  }
});

test("what is no index cannot be read", () => {
  expect(rebuiltIndex(Buffer.from("0123456789012345678901234567890123456789\n"))).toBeUndefined();
});
