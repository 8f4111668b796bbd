import { createHash } from "node:crypto";
import { chmodSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { type TemporaryRepository, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { describe, expect, test } from "vitest";
import { readGitIndex } from "#git-data/git-index";
import { soundIndex } from "#git-data/sound-index";

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

const named = (bytes: Uint8Array, name: string) => Buffer.from(bytes).includes(name, 0, "latin1");

describe("what git itself writes of its trees stays", () => {
  test.each<[string, readonly string[]]>([
    ["after a commit", []],
    ["by another version", ["update-index --index-version=4"]],
    ["with a file that is added", ["add new.txt"]],
    ["with a name that is only meant to be added", ["add --intent-to-add new.txt"]],
    ["with a file that is left out", ["rm -q --cached a/b/c.txt"]],
    ["after a checkout", ["checkout -q -b other HEAD~1"]],
    ["after a merge", ["checkout -q -b other HEAD~1", "merge -q main"]],
  ])("%s", async (_name, commands) => {
    await using repository = await temporaryRepository(files);
    chmodSync(repository.path("a/b.txt"), 0o755);
    symlinkSync("z.txt", repository.path("a/link"));
    await repository.git("add", "--all");
    await repository.git("commit", "-qm", "second");
    writeFileSync(repository.path("new.txt"), "new\n");
    const index = await indexAfter(repository, ...commands);
    expect(named(index, "TREE")).toBe(true);
    expect(soundIndex(index).toString()).toBe(index.toString());
  });
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
    const sound = soundIndex(bytes);
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

test("what is no index stays as it is", () => {
  const bytes = Buffer.from("0123456789012345678901234567890123456789\n");
  expect(soundIndex(bytes)).toBe(bytes);
});
