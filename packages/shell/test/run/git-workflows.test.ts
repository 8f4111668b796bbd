import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { TemporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { stageLayer } from "#stage-layer";
import { useMachine } from "../use-machine.ts";
import { twoBranches } from "./two-branches.ts";

const machine = useMachine();
const copying = useMachine("copy");

const git = "git -c user.name=a -c user.email=a@example.com";
const resolve = "sed -i '/^[<=>]/d' f; git add f";

/** Commands of one session, and what the user sees after them: refs, stashes, the log of HEAD, git's status. */
const workflows: Readonly<Record<string, readonly string[]>> = {
  "commits, and their change": [
    `echo 2 >> f; git add -A; ${git} commit -qm c`,
    `echo 3 >> f; ${git} commit -qa --amend --no-edit; echo 4 >> g; ${git} stash -q`,
    "git stash pop -q",
  ],
  "a merge with a conflict": [
    `${git} merge -q other || true`,
    "git merge --abort",
    `${git} merge -q other || true`,
    `${resolve}; ${git} merge --continue`,
  ],
  "a rebase with a conflict": [
    `${git} rebase -q other || true`,
    "git rebase --abort",
    `${git} rebase -q other || true`,
    `${resolve}; ${git} rebase --continue`,
  ],
  // After which git leaves REBASE_HEAD behind.
  "a rebase with two conflicts": [
    `sed -i s/work/six/ f; ${git} commit -qam six`,
    `${git} rebase -q other || true`,
    `${resolve}; ${git} rebase --continue || true`,
    `${resolve}; ${git} rebase --continue || true`,
  ],
  "a cherry-pick with a conflict": [
    `${git} cherry-pick other || true`,
    `echo 2 >> g; ${resolve}; ${git} cherry-pick --continue`,
    `${git} revert --no-edit HEAD~1 || true`,
    `${resolve}; ${git} revert --continue || ${git} revert --skip`,
  ],
  "patches with a conflict": [
    `git format-patch -q -1 other -o d; ${git} am -q d/0001-other.patch || true`,
    `${git} am --abort; rm d/0001-other.patch`,
  ],
  "a bisection": [
    `for i in 1 2 3 4; do ${git} commit -q --allow-empty -m $i; done`,
    "git bisect start HEAD HEAD~4",
    "git bisect good",
    "git bisect reset",
  ],
  "a visit to a commit": [
    "git checkout -q HEAD~1; echo v > v",
    "git switch -qc from-there; git add v",
    "rm v; git add v",
  ],
  "a stash that conflicts": [
    `echo s > f; ${git} stash -q; git checkout -q other; ${git} stash pop -q || true`,
    "git checkout -qf HEAD; git switch -q work",
    `${git} stash drop -q`,
  ],
  "branches there and back": [
    `git switch -qc new; echo n > n; git add n; ${git} commit -qm n`,
    `git switch -q -; ${git} merge -q new`,
    "git switch -q -",
    "git switch -q -; git branch -qd new; git branch -q new/er",
  ],
  "a repository that is packed": [
    `git branch -q tmp; git branch -q täg; ${git} pack-refs --all; echo 2 >> g; ${git} commit -qam packed`,
    `git branch -qD tmp; ${git} gc -q; ${git} repack -adq; git prune`,
  ],
};

const ways = { overlays: machine, copies: copying };
/** What differs on copies: the index, what stays under way between runs, and refs that git packed. */
const onCopies = [
  "commits, and their change",
  "a merge with a conflict",
  "a visit to a commit",
  "a repository that is packed",
];
const cases = Object.entries(workflows).flatMap(([name, commands]) =>
  (["overlays", "copies"] as const)
    .filter((way) => way === "overlays" || onCopies.includes(name))
    .map((way) => ({ name, way, commands })),
);

test.each(cases)("staged or not, the user gets the same by $name, on $way", async ({ way, commands }) => {
  await using staged = await twoBranches();
  await using plain = await twoBranches();
  let ended = await seen(staged);
  // Each begins by saying what there is of those before it.
  const say = "git status -uall; git rev-parse --abbrev-ref HEAD; ls .git | grep -v '^packed'; cat f g";
  for (const command of [...commands, "true"]) {
    const text = `${say}; { ${command}; } >/dev/null 2>&1`;
    const run = await ways[way]().run(staged.root, text, false, "s");
    expect(run.run).toMatchObject({ exitCode: 0 });
    await run.keep(new Set());
    const output = await plain.git("-c", `alias.all=!export GIT_EDITOR=true; ${text}`, "all");
    expect(withoutIds(run.run.output)).toBe(withoutIds(output));
    // While an operation is under way, the user's repository is as it was.
    if (run.operation === undefined) ended = await seen(plain);
    expect(await seen(staged)).toEqual(ended);
  }
  expect(await staged.git("fsck", "--strict", "--no-dangling")).toBe("");
});

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

function withoutIds(text: string): string {
  return text.replaceAll(/\b[0-9a-f]{7,}\b/g, "ID").trim();
}

async function seen(repository: TemporaryRepository) {
  return {
    refs: await repository.git("for-each-ref", "--format=%(refname) %(tree) %(symref)"),
    head: await repository.git("rev-parse", "--abbrev-ref", "HEAD"),
    index: await repository.git("ls-files", "-s", "-v"),
    status: await repository.git("status", "--porcelain", "-uall"),
    stashes: (await repository.git("stash", "list")).split("\n").length,
  };
}
