import { chmodSync, chownSync, rmSync, utimesSync } from "node:fs";
import { type TemporaryRepository, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { useMachine } from "../use-machine.ts";
import { commit } from "./staged-commands.ts";

const machine = useMachine();

const evil = "$(echo evil | git hash-object -w --stdin)";

/** The paths of which policies are told that git will not show them. */
async function unshown(repository: TemporaryRepository, text: string): Promise<readonly string[]> {
  const staged = await machine().run(repository.root, text);
  await staged.drop();
  expect(staged.run).toMatchObject({ exitCode: 0 });
  return staged.effects.flatMap((effect) =>
    effect.type === "write" && effect.found?.traits.includes("not-shown") === true ? [effect.path.relative] : [],
  );
}

const nothing = () => Promise.resolve();

test.each<[string, string, readonly string[], (repository: TemporaryRepository) => Promise<unknown>]>([
  ["a flag from before", "rm a.txt", ["a.txt"], (each) => each.git("update-index", "--skip-worktree", "a.txt")],
  [
    "a directory that ignores itself",
    "mkdir s/x; echo '*' > s/x/.gitignore; echo evil > s/x/c.js",
    ["s/x/.gitignore", "s/x/c.js"],
    nothing,
  ],
  [
    "that it is untracked and ignored",
    "git rm -q --cached a.txt; echo a.txt > .gitignore; echo evil > a.txt",
    ["a.txt"],
    nothing,
  ],
  ["git's own list of patterns", "echo c.js >> .git/info/exclude; echo evil > c.js", ["c.js"], nothing],
  [
    "the place of a submodule that is not there",
    "echo evil > v/c.js",
    ["v/c.js"],
    async (each) => {
      const id = (await each.git("rev-parse", "HEAD")).trim();
      await each.git("update-index", "--add", "--cacheinfo", `160000,${id},v`);
      await each.git("commit", "-qm", "v");
      await each.write("v/.keep", "");
    },
  ],
  [
    "a bit that git does not look at",
    "chmod +x a.txt",
    ["a.txt"],
    (each) => each.git("config", "core.fileMode", "false"),
  ],
  [
    "no more than size and time",
    "echo 2 > b; touch -r a.txt b; cat b > a.txt; touch -r b a.txt; rm b",
    ["a.txt"],
    async (each) => {
      await each.git("config", "core.checkStat", "minimal");
      await each.git("config", "core.trustctime", "false");
      utimesSync(each.path("a.txt"), 1_000_000, 1_000_000);
      await each.git("update-index", "--refresh");
    },
  ],
  [
    "what git takes for equal",
    "sed -i 's/: .* [$]/: '$(printf %040d 7)' $/' i.txt",
    ["i.txt"],
    async (each) => {
      rmSync(each.path("i.txt"));
      await each.git("checkout", "-q", "i.txt");
    },
  ],
  [
    "a tree in place of another",
    `git update-index --cacheinfo 100644,${evil},a.txt; git replace HEAD^{tree} $(git write-tree); git cat-file blob ${evil} > a.txt`,
    ["a.txt"],
    nothing,
  ],
])("is told of: %s", async (_name, text, expected, prepare) => {
  await using repository = await temporaryRepository({
    "a.txt": "1\n",
    "s/a.txt": "1\n",
    "i.txt": "$Id$\n",
    ".gitattributes": "i.txt ident\n",
  });
  await prepare(repository);
  expect(await unshown(repository, text)).toEqual(expected);
});

test.each<[string, string]>([
  ["changes of all kinds", "echo 2 > a.txt; echo n > s/new.txt; rm s/a.txt; chmod +x w.txt; ln -s a.txt l"],
  ["a commit", `echo 2 > a.txt; echo n > n.txt; git add a.txt n.txt; ${commit} -m two`],
  ["what goes back to the commit", "git checkout -q a.txt w.txt dirty.txt"],
  ["rights that git does not keep", "chmod 600 a.txt"],
  ["what git ignores", "mkdir dist; echo 1 > dist/a.js"],
  ["files of an untracked name that go", "rm untracked.txt"],
  ["a repository within", "echo 2 > n/a.txt; echo 2 > n/b.txt"],
  ["more than are asked for one by one", "mkdir m; for i in $(seq 400); do echo $i > m/$i.txt; done"],
])("nothing is hidden by %s", async (_name, text) => {
  await using repository = await temporaryRepository({
    "a.txt": "1\n",
    "s/a.txt": "1\n",
    "w.txt": "1\n",
    "dirty.txt": "1\n",
    ".gitattributes": "w.txt text eol=crlf\n",
    ".gitignore": "dist\n",
  });
  await repository.write("dirty.txt", "2\n");
  await repository.write("untracked.txt", "2\n");
  await repository.write("w.txt", "2\r\n");
  await repository.git("init", "-q", "n");
  await repository.write("n/a.txt", "1\n");
  expect(await unshown(repository, text)).toEqual([]);
});

// Only root may give a directory to a group that this process is not in.
test.runIf(process.getuid?.() === 0)("on a copy, too, what git will not show is told, and nothing else", async () => {
  await using repository = await temporaryRepository({ "a.txt": "1\n", "s/a.txt": "1\n", "t/a.txt": "1\n" });
  // A group that no user namespace has: commands run on copies.
  chownSync(repository.path("s"), 0, 61_235);
  chmodSync(repository.path("s"), 0o2755);
  const hide =
    "mkdir s/x; echo '*' > s/x/.gitignore; echo evil > s/x/c.js; echo n.js >> .git/info/exclude; echo 2 > n.js";
  const show =
    "echo 2 > a.txt; rm s/a.txt; mkdir t/y; echo n > t/y/n.txt; rm t/a.txt; mkdir t/a.txt; echo 3 > t/a.txt/b";
  expect(await unshown(repository, `${hide}; ${show}`)).toEqual(["n.js", "s/x/.gitignore", "s/x/c.js"]);
  const staged = await machine().run(
    repository.root,
    `${show}; mkdir v; echo '*' > v/.gitignore; echo 1 > v/cfg`,
    false,
    "s1",
  );
  expect(staged.layered).toEqual(["v"]);
  await staged.keep(new Set());
  const status = await repository.git("status", "--porcelain", "-uall");
  expect(status.split("\n").map((line) => line.trim())).toEqual(
    expect.arrayContaining(["D s/a.txt", "D t/a.txt", "M a.txt", "?? t/a.txt/b", "?? t/y/n.txt"]),
  );
  expect(status).not.toContain("v/");
});

test("what the rules from after the command ignore stays in the session, as what those from before do", async () => {
  await using repository = await temporaryRepository({ "a.txt": "1\n" });
  const make = "mkdir .venv c; echo '*' > .venv/.gitignore; echo 1 > .venv/cfg; echo '/c' > .gitignore; echo 1 > c/d";
  const staged = await machine().run(repository.root, make, false, "s1");
  expect(staged.layered).toEqual([".venv", "c"]);
  await staged.keep(new Set());
  expect(await repository.git("status", "--porcelain", "--ignored", "-uall")).toBe("?? .gitignore");
  const later = await machine().run(repository.root, "cat .venv/cfg c/d && echo 2 > .venv/cfg", false, "s1");
  await later.drop();
  expect(later).toMatchObject({ run: { output: "1\n1\n" }, layered: [".venv"], effects: [] });
});

test("what a command removes that only the session had is nothing to bring into the workspace", async () => {
  await using repository = await temporaryRepository({ ".gitignore": "dist\nout\n", "out/own": "the user's\n" });
  const layered = async (text: string) => {
    const staged = await machine().run(repository.root, text, false, "s1");
    await staged.keep(new Set());
    return staged.layered;
  };
  expect(await layered("mkdir dist; echo 1 > dist/a")).toEqual(["dist"]);
  expect(await layered("rm -r dist")).toEqual([]);
  expect(await layered("rm -r out")).toEqual(["out"]);
  expect(await repository.read("out/own")).toBe("the user's\n");
});

test("flags that a command sets in the index, and times that it writes there, hide nothing from the user", async () => {
  await using repository = await temporaryRepository({ "a.txt": "1\n", "b.txt": "1\n", "c.txt": "1\n" });
  await repository.git("update-index", "--skip-worktree", "c.txt");
  const flags = "git update-index --assume-unchanged a.txt; git update-index --skip-worktree b.txt";
  const staged = await machine().run(
    repository.root,
    `${flags}; git update-index --no-skip-worktree c.txt; echo 2 | tee a.txt b.txt`,
  );
  expect(staged.effects).toMatchObject([
    { type: "write", found: { traits: [] } },
    { type: "write", found: { traits: [] } },
  ]);
  await staged.keep(new Set());
  expect(await repository.git("ls-files", "-v")).toBe("H a.txt\nH b.txt\nS c.txt");
  expect((await repository.git("status", "--porcelain")).trim()).toBe("M a.txt\n M b.txt");
});
