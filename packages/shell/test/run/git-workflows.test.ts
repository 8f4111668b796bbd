import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { TemporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { stageLayer } from "#stage-layer";
import { testAsOneUser } from "../../../stage/test/as-users.ts";
import { committing } from "../../../stage/test/scenario-files.ts";
import { useMachine } from "../use-machine.ts";
import { twoBranches } from "./two-branches.ts";

const machine = useMachine();
const git = "git -c user.name=a -c user.email=a@example.com";
testAsOneUser(committing.workflows, { oneOf: 6 });

test("what is no branch stays in the session, and so does a branch that could be taken for something else", async () => {
  await using repository = await twoBranches();
  const keep = async (text: string) => {
    const staged = await machine().run(repository.root, text, false, "s");
    await staged.keep(new Set());
    return staged;
  };
  const before = await seen(repository);
  const odd = "git branch origin/x; git branch y/z; git update-ref refs/heads/HEAD HEAD; git branch 1234567";
  const made = await keep(`git tag v1; ${git} notes add -m n; git symbolic-ref refs/heads/s refs/heads/main; ${odd}`);
  expect(made.run.exitCode).toBe(0);
  expect(made.layered).toEqual(
    ["heads/1234567", "heads/HEAD", "heads/origin", "heads/s", "notes", "tags/v1"].map((ref) => `.git/refs/${ref}`),
  );
  expect(made.effects).toMatchObject([{ type: "git", what: "ref", name: "refs/heads/y/z" }]);
  await repository.git("branch", "-D", "y/z");
  expect(await seen(repository)).toEqual(before);
  // As little is lost when git packs them.
  await keep(`${git} gc -q; git pack-refs --all`);
  expect((await keep("(git tag; git notes show; git branch --list 'origin/*') 2>/dev/null")).run.output).toBe(
    "v1\nn\n  origin/x\n",
  );
  await keep("git tag -d v1; git reflog expire --expire=now --all");
  expect((await keep("git tag")).run.output).toBe("");
  expect(await seen(repository)).toEqual(before);
  await expect(machine().run(repository.root, "git switch -q origin/x", false, "s")).resolves.toMatchObject({
    refused: expect.stringContaining("another name"),
  });
});

test("git's index is kept whole, or not at all", async () => {
  await using repository = await twoBranches();
  const before = await seen(repository);
  const split = await machine().run(repository.root, "git update-index --split-index", true, "s");
  expect(split.effects).toMatchObject([{ type: "git", what: "unreadable", name: ".git/index" }]);
  await expect(split.keep(new Set())).rejects.toThrow("split, sparse or damaged");
  expect(await seen(repository)).toEqual(before);
  await repository.git("config", "core.splitIndex", "true");
  await (await machine().run(repository.root, "echo 2 >> g; git add g", false, "s")).keep(new Set());
  expect(readdirSync(join(repository.root, ".git")).filter((name) => name.startsWith("sharedindex"))).toEqual([]);
  expect(await repository.git("diff", "--cached", "--name-only")).toBe("g");
});

test("git still works for the user after a command that made, closed and removed directories in its data", async () => {
  await using repository = await twoBranches();
  await repository.git("pack-refs", "--all");
  await repository.git("config", "core.autocrlf", "false");
  const before = await seen(repository);
  const names = (): readonly string[] => readdirSync(join(repository.root, ".git")).toSorted();
  const namesBefore = names();
  const make =
    "mkdir index.lock HEAD.lock config.lock packed-refs.lock shallow FETCH_HEAD; rm COMMIT_EDITMSG; mkdir COMMIT_EDITMSG";
  const modes = "chmod 0 logs objects/?? objects/pack index packed-refs; mkdir -m 0 objects/00 2>/dev/null";
  const text = `cd .git; ${make}; rm -r refs branches info/refs; git rev-parse HEAD | tee ORIG_HEAD AUTO_MERGE > logs/refs/heads/none; ${modes}; true`;
  const staged = await machine().run(repository.root, text, false, "s");
  expect(staged).toMatchObject({ run: { exitCode: 0 }, operation: undefined });
  await staged.keep(new Set());
  expect(names()).toEqual(namesBefore);
  expect(await seen(repository)).toEqual(before);
  await repository.write("f", "more\n");
  await repository.git("commit", "-qam", "the user's");
  await repository.git("stash", "list");
  expect(await repository.git("log", "-1", "--format=%s")).toBe("the user's");
  const closed = readdirSync(join(repository.root, ".git"), { recursive: true, withFileTypes: true }).filter(
    (entry) => {
      return (lstatSync(join(entry.parentPath, entry.name)).mode & 0o400) === 0;
    },
  );
  expect(closed).toEqual([]);
});

test.each([
  [
    "what git could abbreviate an id to",
    "git branch 12ab; git branch deadbeef; git branch v1-2-g1234567; git branch feed",
    ["feed"],
  ],
  [
    "a name of git's own",
    "for n in AUTO_MERGE BISECT_X heads/x refs/heads/y remotes/z upstream/x; do git branch $n; done; git branch Heads; git update-ref refs/heads/@ HEAD; git update-ref refs/heads/-d HEAD",
    ["Heads"],
  ],
  [
    "another branch, because it looks like it",
    "for n in Work WORK m\u0430in wo\u200brk \uff57ork \u0440\u0430\u0431\u043e\u0442\u0430 t\u00e4g; do git branch $n; done",
    ["t\u00e4g", "\u0440\u0430\u0431\u043e\u0442\u0430"],
  ],
])("a branch that could be taken for %s stays in the session", async (_name, text, expected) => {
  await using repository = await twoBranches();
  const before = (await repository.git("branch", "--format=%(refname:lstrip=2)")).split("\n");
  await (await machine().run(repository.root, text, false, "s")).keep(new Set());
  const after = (await repository.git("branch", "--format=%(refname:lstrip=2)")).split("\n");
  expect(after.filter((name) => !before.includes(name))).toEqual(expected);
});

test("a person brings a tag from the session into the repository", async () => {
  await using repository = await twoBranches();
  await (await machine().run(repository.root, "git tag v1 HEAD~1", false, "s")).keep(new Set());
  const layer = await machine().stages.layer(repository.root, "s");
  if (layer === undefined) throw new Error("There is no layer.");
  const { stages } = machine();
  const place = { stages, zeroAccess: { sha256: "", covers: () => false }, workspaceRoot: repository.root };
  await (await stageLayer(layer, [".git/refs/tags/v1"], place)).keep();
  expect(await repository.git("rev-parse", "v1")).toBe(await repository.git("rev-parse", "HEAD~1"));
  expect(layer.trees).toEqual([]);
});

async function seen(repository: TemporaryRepository) {
  return {
    refs: await repository.git("for-each-ref", "--format=%(refname) %(tree) %(symref)"),
    head: await repository.git("rev-parse", "--abbrev-ref", "HEAD"),
    index: await repository.git("ls-files", "-s", "-v"),
    status: await repository.git("status", "--porcelain", "-uall"),
    stashes: (await repository.git("stash", "list")).split("\n").length,
  };
}
