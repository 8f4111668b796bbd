import { existsSync } from "node:fs";
import type { FoundPart } from "@gennai/governance/tool";
import { closedUnderNeeds } from "@gennai/protocol/model/governance/offered-parts";
import { temporaryRepository } from "@gennai/testkit/temporary-repository";
import { describe, expect, test } from "vitest";
import type { StagedShellRun } from "#run/run-staged";
import { useMachine } from "../use-machine.ts";

const machine = useMachine();

const author = "-c user.name=a -c user.email=a@example.com";

/** Parts by their names, each with what it needs. */
function shown(parts: readonly FoundPart[]): readonly string[] {
  const names = new Map(parts.map(({ id, name }) => [id, name]));
  return parts
    .map(({ name, needs }) => [name, ...needs.map((id) => `needs ${names.get(id) ?? "?"}`).toSorted()].join(" "))
    .toSorted();
}

/** Keeps all but the parts of these names, and what needs them. */
async function keepWithout(staged: StagedShellRun, names: readonly string[]): Promise<readonly string[]> {
  const unwanted = staged.parts.filter(({ name }) => names.includes(name)).map(({ id }) => id);
  expect(unwanted).toHaveLength(names.length);
  const { changes } = await staged.keep(closedUnderNeeds(staged.parts, unwanted));
  return changes.map(({ path }) => path);
}

const files = { "a.txt": "a\n", "b.txt": "b\n", "dir/c.txt": "c\n", "dir/d.txt": "d\n", "dir/deep/e.txt": "e\n" };

async function bench() {
  const repository = await temporaryRepository(files);
  return {
    repository,
    run: (text: string) => machine().run(repository.root, text),
    [Symbol.asyncDispose]: () => repository[Symbol.asyncDispose](),
  };
}

describe("what is kept or dropped as a whole", () => {
  test.each<[string, string, readonly string[]]>([
    ["each file", "echo 2 > a.txt; rm b.txt; mkdir new; echo n > new/n.txt", ["a.txt", "b.txt", "new/n.txt"]],
    ["both names of a file that was moved", "mv a.txt z.txt; echo 2 > b.txt", ["a.txt, z.txt", "b.txt"]],
    ["all names of a file", "echo n > n.txt; ln n.txt m.txt; echo 2 > b.txt", ["b.txt", "m.txt, n.txt"]],
    ["a directory and the file in its place", "rm -r dir; echo f > dir; echo 2 > a.txt", ["a.txt", "dir and 3 more"]],
    ["a file and the directory in its place", "rm a.txt; mkdir a.txt; echo x > a.txt/x", ["a.txt, a.txt/x"]],
    [
      "the index, which needs what it holds",
      "echo 2 > a.txt; echo 2 > b.txt; git add a.txt",
      [".git needs a.txt", "a.txt", "b.txt"],
    ],
    [
      "a commit, which needs what it holds",
      `echo 2 > a.txt; rm b.txt; git add a.txt; git ${author} commit -qm m`,
      [".git needs a.txt", "a.txt", "b.txt"],
    ],
    ["a stash and what it put away", `echo 2 > a.txt; git ${author} stash -q; echo 2 > b.txt`, [".git", "b.txt"]],
    [
      "another branch and its files",
      `git checkout -qb x; echo 2 > a.txt; git ${author} commit -qam m`,
      [".git, a.txt"],
    ],
    [
      "a tag and another branch, which need the commit",
      `echo 2 > a.txt; git ${author} commit -qam m; git tag t; git ${author} tag -am n v/1; git branch -f other`,
      [
        ".git needs a.txt",
        "a.txt",
        "refs/heads/other needs .git",
        "refs/tags/t needs .git",
        "refs/tags/v/1 needs .git",
      ],
    ],
    ["another repository", "git init -q v; echo 1 > v/x; echo 2 > a.txt", ["a.txt", "v/.git", "v/x"]],
  ])("%s", async (_name, command, wanted) => {
    await using on = await bench();
    const staged = await on.run(command);
    expect(shown(staged.parts)).toEqual(wanted);
    const ids = staged.parts.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    await staged.drop();
  });

  test("of very many, those of a directory", async () => {
    await using on = await bench();
    const staged = await on.run(
      "for d in 1 2 3; do mkdir -p n/$d; for f in $(seq 60); do echo $f > n/$d/$f; done; done; echo 2 > a.txt",
    );
    expect(staged.parts).toHaveLength(4);
    expect(
      await keepWithout(
        staged,
        staged.parts.filter(({ name }) => name.startsWith("n/2/")).map(({ name }) => name),
      ),
    ).toHaveLength(121);
    expect(existsSync(on.repository.path("n/2"))).toBe(false);
    expect(existsSync(on.repository.path("n/3/60"))).toBe(true);
  });
});

describe("a part is kept", () => {
  test("files, with the directories that they need, and no others", async () => {
    await using on = await bench();
    const staged = await on.run(
      "echo 2 > a.txt; mkdir -p x/y z/only; echo 1 > x/y/1; echo 2 > x/y/2; echo 1 > z/only/1; rm -r dir",
    );
    expect(await keepWithout(staged, ["a.txt", "x/y/1", "z/only/1", "dir/c.txt"])).toEqual([
      "dir/d.txt",
      "dir/deep/e.txt",
      "x/y/2",
    ]);
    const there = ["x/y/2", "dir/c.txt", "x/y/1", "z", "dir/d.txt", "dir/deep"].map((path) =>
      existsSync(on.repository.path(path)),
    );
    expect(there).toEqual([true, true, false, false, false, false]);
    expect(await on.repository.read("a.txt")).toBe("a\n");
  });

  test("without a file that is to be committed, nothing of git's", async () => {
    await using on = await bench();
    const before = await on.repository.git("rev-parse", "HEAD");
    const staged = await on.run(`echo 2 > a.txt; echo 2 > b.txt; git ${author} commit -qam m; git tag t`);
    expect(await keepWithout(staged, ["a.txt"])).toEqual(["b.txt"]);
    expect(await on.repository.git("rev-parse", "HEAD")).toBe(before);
    expect(await on.repository.git("tag")).toBe("");
    expect(await on.repository.git("status", "--porcelain")).toBe(" M b.txt");
    expect((await on.repository.git("fsck")).trim()).toBe("");
  });

  test("without a tag, the commit", async () => {
    await using on = await bench();
    const staged = await on.run(`echo 2 > a.txt; git ${author} commit -qam m; git ${author} tag -am n t`);
    expect(await keepWithout(staged, ["refs/tags/t"])).toEqual(["a.txt"]);
    expect(await on.repository.git("log", "-1", "--format=%s")).toBe("m");
    expect(await on.repository.git("tag")).toBe("");
  });

  test("without git's part, the files", async () => {
    await using on = await bench();
    const staged = await on.run("echo 2 > a.txt; git add a.txt; git tag t");
    expect(await keepWithout(staged, [".git"])).toEqual(["a.txt"]);
    expect(await on.repository.git("status", "--porcelain")).toBe(" M a.txt");
  });

  test("without a file, git's part where it does not hold it", async () => {
    await using on = await bench();
    const staged = await on.run("echo 2 > a.txt; echo 2 > b.txt; git add a.txt");
    expect(await keepWithout(staged, ["b.txt"])).toEqual(["a.txt"]);
    expect(await on.repository.git("status", "--porcelain")).toBe("M  a.txt");
  });

  test("a file that was moved stays under its old name", async () => {
    await using on = await bench();
    const staged = await on.run("mv a.txt z.txt; echo 2 > b.txt");
    expect(await keepWithout(staged, ["a.txt, z.txt"])).toEqual(["b.txt"]);
    expect([existsSync(on.repository.path("a.txt")), existsSync(on.repository.path("z.txt"))]).toEqual([true, false]);
  });
});
