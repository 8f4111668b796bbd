import { deepEqual, equal } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync } from "node:fs";
import { type TemporaryDirectory, temporaryDirectory } from "@gennai/testkit/temporary-repository";
import type { Scenarios } from "../../../stage/test/run-scenarios.ts";
import { stagingMachine } from "../staging-machine.ts";
import { twoBranches } from "./two-branches.ts";

const resolve = "sed -i '/^[<=>]/d' f; git add f";
/** Makes another repository in the work tree, which git does not show. */
const remote = "echo far.git > .git/info/exclude; git clone -q --bare --no-hardlinks . far.git; rm -f far.git/hooks/*";

const largeFiles = "large files apart";
/**
 * Commands of one session, on two branches of whose `f` both changed the same line. Where the first begins with `user: `, it is the
 * user's, before.
 */
const workflows: Readonly<Record<string, readonly string[]>> = {
  "commits, and their change": [
    "echo 2 >> f; git add -A; git commit -qm c",
    "echo 3 >> f; git commit -qa --amend --no-edit; echo 4 >> g; git stash -q",
    "git stash pop -q",
  ],
  "a merge with a conflict": [
    "git merge -q other || true",
    "git merge --abort",
    "git merge -q other || true",
    `${resolve}; git merge --continue`,
  ],
  "a rebase with a conflict": [
    "git rebase -q other || true",
    "git rebase --abort",
    "git rebase -q other || true",
    `${resolve}; git rebase --continue`,
  ],
  // After which git leaves REBASE_HEAD behind.
  "a rebase with two conflicts": [
    "sed -i s/work/six/ f; git commit -qam six",
    "git rebase -q other || true",
    `${resolve}; git rebase --continue || true`,
    `${resolve}; git rebase --continue || true`,
  ],
  "a rebase without a conflict": [
    "git switch -qc side main; echo s > s; git add s; git commit -qm s",
    "git rebase -q work; git rebase -q --exec 'echo ran > ran' HEAD~1; rm ran",
    "git rebase -q --onto main work; git pull -q --rebase . work",
  ],
  "a rebase that stops where it is told to": [
    "echo 2 > g; git commit -qam 2; echo 3 > g; git commit -qam 3",
    "GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -qi HEAD~2",
    "echo n > n; git add n; git commit -q --amend --no-edit",
    "git rebase --continue",
  ],
  "a commit that corrects another": [
    "echo 2 > g; git commit -qam 2; echo 3 > d/h; git commit -qam 3",
    "echo 4 >> g; git commit -qa --fixup HEAD~1; git rebase -qi --autosquash HEAD~3",
    "git reset -q --soft HEAD~1; git commit -qm both",
  ],
  "a cherry-pick with a conflict": [
    "git cherry-pick other || true",
    `echo 2 >> g; ${resolve}; git cherry-pick --continue`,
    "git revert --no-edit HEAD~1 || true",
    `${resolve}; git revert --continue || git revert --skip`,
  ],
  "several commits, picked and reverted": [
    "git switch -qc side; for i in 1 2 3; do echo $i > n$i; git add n$i; git commit -qm $i; done",
    "git switch -q work; git cherry-pick side~2..side >/dev/null",
    "git revert --no-edit HEAD~1 HEAD; git cherry-pick -n side; git commit -qm again",
  ],
  "patches with a conflict": [
    "git format-patch -q -1 other -o d; git am -q d/0001-other.patch || true",
    "git am --abort; rm d/0001-other.patch",
  ],
  "patches that fit": [
    "git switch -qc side; echo s > s; git add s; git commit -qm s; git format-patch -q -1 -o d",
    "git switch -q work; git am -q d/0001-s.patch",
    "git diff HEAD~1 > p; git apply -R --index p; rm p; git commit -qm out; git clean -fdq d",
  ],
  "a bisection": [
    "for i in 1 2 3 4; do git commit -q --allow-empty -m $i; done",
    "git bisect start HEAD HEAD~4",
    "git bisect good",
    "git bisect reset",
  ],
  "a bisection by a script": [
    "for i in 1 2 3 4; do echo $i > n; git add n; git commit -qm $i; done",
    "git bisect start HEAD HEAD~3; git bisect run sh -c 'test $(cat n) -lt 3'; git bisect reset",
  ],
  "a visit to a commit": [
    "git checkout -q HEAD~1; echo v > v",
    "git switch -qc from-there; git add v",
    "rm v; git add v",
  ],
  "a stash that conflicts": [
    "echo s > f; git stash -q; git checkout -q other; git stash pop -q || true",
    "git checkout -qf HEAD; git switch -q work",
    "git stash drop -q",
  ],
  "stashes of all kinds": [
    "echo s > f; echo n > new; git add g; git stash -qu; echo t > g; git add g; echo u > f; git stash -q --keep-index",
    "git commit -qm t; git stash pop -q; git checkout -q f",
    "git stash branch -q from-stash 2>&1 || git stash drop -q",
  ],
  "branches there and back": [
    "git switch -qc new; echo n > n; git add n; git commit -qm n",
    "git switch -q -; git merge -q new",
    "git switch -q -",
    "git switch -q -; git branch -qd new; git branch -q new/er; git branch -m new/er new",
  ],
  "merges of all kinds": [
    "for i in 1 2; do git switch -qc s$i work; echo $i > n$i; git add n$i; git commit -qm $i; done; git switch -q work",
    "git merge -q --no-ff --no-edit s1; git merge -q --squash s2; git commit -qm squashed",
    "git reset -q --hard HEAD~2; git merge -q --no-edit s1 s2; git merge -q -s ours -m ours other",
  ],
  "a branch without a past": [
    "git switch -q --orphan bare",
    "echo o > o; git add o; git commit -qm o",
    "git switch -q work",
  ],
  "what is taken back": [
    "echo 2 > g; git add g; echo 3 > g; git restore --staged g; git restore g; git rm -q d/h; git reset -q",
    "git checkout -q -- d/h; git mv g G; git commit -qm moved; git mv G g; git commit -qm back",
    "git reset -q --hard HEAD~2; git reset -q --mixed main; git checkout -q work -- f; git clean -fdxq",
  ],
  "the index alone": [
    "echo n > n; git update-index --chmod=+x g; git rm -q --cached d/h",
    "git commit -qm index g; git reset -q; rm n",
    "git commit-tree -m plumbing -p HEAD $(git write-tree) | xargs git update-ref refs/heads/plumbed",
  ],
  "tags, notes and other names": [
    "git tag v1; git tag -m two v2; git notes add -m n; git update-ref refs/own/x HEAD",
    "git describe; git notes show; git tag -d v1; git fast-export v2 | wc -l",
    "git replace HEAD HEAD~1; git log --format=%s -1; git replace -d HEAD",
  ],
  "hooks of the project": [
    "mkdir .husky; printf '#!/bin/sh\\necho hook >> ran\\ngit add ran\\n' > .husky/pre-commit; chmod +x .husky/pre-commit",
    "git config core.hooksPath .husky; git add .husky; git commit -qm hooked; git log -1 --format=%s --name-only",
    "echo 2 > g; git commit -qam again; git commit -q --allow-empty --no-verify -m none",
  ],
  // As husky lays them.
  "hooks in a directory that ignores itself": [
    `user: mkdir -p .husky/_; cd .husky; echo '*' > _/.gitignore; printf '#!/bin/sh\nexec sh -e "$(dirname "$0")/../$(basename "$0")" "$@"\n' | tee _/pre-commit > _/commit-msg; chmod +x _/*-*; printf 'echo checked >> checked\ngit add checked\n' > pre-commit; printf 'grep -q "[0-9]" "$1"\n' > commit-msg; git config core.hooksPath .husky/_; git add -A; git commit -qm 1`,
    "echo 2 > g; git commit -qam two || echo refused; git commit -qam 2; cat checked",
    "echo 'exit 1' >> .husky/pre-commit; git commit -qam 3 || echo stopped",
  ],
  "another repository, and back": [
    `${remote}; git remote add far ./far.git; git fetch -q far; git push -q far work; git branch -qu far/work`,
    "git -C far.git branch more work; git fetch -q far; git pull -q far more; git log -1 --format=%s far/more",
    "git push -q far :more; git remote prune far; git remote remove far; rm -rf far.git",
  ],
  "a work tree beside it": [
    "git worktree add -q -b there tree; echo t > tree/t; git -C tree add t; git -C tree commit -qm t",
    "git worktree list | wc -l; git -C tree status; echo u >> tree/t; git -C tree commit -qam u",
    "git worktree remove tree; git merge -q there; git branch -qd there",
  ],
  "a part of the tree": ["git sparse-checkout set d; ls; git status -s; git sparse-checkout disable", "ls"],
  "a repository that is packed": [
    "git branch -q tmp; git branch -q täg; git pack-refs --all; echo 2 >> g; git commit -qam packed",
    "git branch -qD tmp; git gc -q; git repack -adq; git prune",
    "git commit-graph write --reachable; git multi-pack-index write; git maintenance run -q; git commit -q --allow-empty -m end",
  ],
  "names of all kinds": [
    "mkdir 'a b'; echo 1 > 'a b/ü'; echo 2 > $'tab\\there'; echo 3 > -- ; ln -s f link; git add -A; git commit -qm odd",
    "git mv 'a b/ü' ab; git mv link 'li nk'; git rm -q -- --; git commit -qam moved; chmod +x f; git commit -qam mode",
  ],
  [largeFiles]: [
    "user: git lfs install --local --skip-smudge >/dev/null; rm -f .git/hooks/*; echo '*.bin filter=lfs diff=lfs merge=lfs -text' > .gitattributes; head -c 9999 /dev/zero > a.bin; git add -A; git commit -qm large",
    "echo more >> a.bin; git status -s; git add a.bin; git commit -qm more; git show :a.bin; git lfs ls-files",
    "git checkout -q HEAD~1; git switch -q work; git lfs checkout; tail -c 5 a.bin",
    "cp a.bin b.bin; git add b.bin; git stash -q; git stash pop -q --index; git lfs status; git commit -qm b; git lfs fsck",
  ],
  "a repository with a submodule": [
    "user: git clone -q . sub; git -C sub checkout -q main; git submodule -q add ./sub sub >/dev/null; git submodule absorbgitdirs -q sub 2>/dev/null; git commit -qam sub",
    "git submodule status; git submodule foreach -q 'git log -1 --format=%s'; echo 2 >> sub/g; git status -s",
    "git -C sub -c user.name=a -c user.email=a@b.c commit -qam in-sub; git add sub; git commit -qm moved",
    "git submodule update -q; git -C sub status -s; git diff --submodule=log HEAD~1 | wc -l",
  ],
  "few commits of a longer history": [
    `user: ${remote}; git remote add far "file://$PWD/far.git"; git fetch -q --depth 1 far work; git remote set-url far ./far.git; git rev-parse FETCH_HEAD > .git/shallow; git reflog expire --expire=now --all`,
    "git log --oneline | wc -l; echo 2 > g; git commit -qam 2; git log --oneline | wc -l",
    "git fetch -q --unshallow far work; git log --oneline | wc -l; git fsck --connectivity-only",
  ],
  "a clone without all its contents": [
    `user: ${remote}; git -C far.git config uploadpack.allowFilter true; git clone -q --no-checkout --filter=blob:none "file://$PWD/far.git" part; rm -rf .git/objects; cp -r part/.git/objects .git/objects; rm -rf part; git remote add far ./far.git; git config remote.far.promisor true; git config remote.far.partialclonefilter blob:none; git config extensions.partialClone far; git checkout -q work -- .; git remote set-url far ./far.git`,
    "git log -p --format=%s | tail -3; echo 2 > g; git commit -qam 2",
    "git merge -q -s ours --no-edit other; git diff HEAD~1 | wc -l; git show other:f",
  ],
};

const settings =
  '[user]\n\tname = a\n\temail = a@example.com\n[protocol "file"]\n\tallow = always\n[advice]\n\tdetachedHead = false\n';
/** Nothing of git's own data but what git says of it. */
const tree =
  "find . -name .git -prune -o -name far.git -prune -o -printf '%y %m %p %l\\n' | LC_ALL=C sort; find . -name .git -prune -o -name far.git -prune -o -type f -exec sha256sum {} + | LC_ALL=C sort";
const refs = "git for-each-ref; git rev-parse HEAD; git rev-parse --abbrev-ref HEAD; git stash list";
const look = `exec 2>&1; git status -uall; git ls-files -s; ${refs}; git fsck --strict --no-dangling; ${tree}`;

export const scenarios: Scenarios = Object.fromEntries(
  Object.entries(workflows)
    .filter(([name]) => name !== largeFiles || spawnSync("git", ["lfs", "version"]).status === 0)
    .map(([name, commands]) => [`the user gets by ${name} what they get without stages`, () => sameWay(commands)]),
);

/** Runs them on a stage and, beside it, as they are, and compares after each what the session sees, and what the user has. */
async function sameWay([first = "", ...others]: readonly string[]): Promise<void> {
  // The server's git asks for it, and a user without a name has none.
  process.env["HOME"] ??= "/nonexistent";
  await using machine = await stagingMachine(undefined, { ".gitconfig": settings });
  await using staged = await twoBranches();
  const prepares = first.startsWith("user: ");
  if (prepares) inShell(first.slice("user: ".length), staged.root, machine.home, 0);
  await using plain = await temporaryDirectory();
  cpSync(staged.root, plain.root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  const commands = prepares ? others : [first, ...others];
  let ended = seen(staged, machine.home);
  for (const [index, command] of [...commands, "true"].entries()) {
    // What the session sees of the commands before it.
    const text = dated(`{ ${look}; }; { ${command}; } 2>&1`, index);
    const run = await machine.run(staged.root, text, false, "s");
    equal(run.refused, undefined);
    await run.keep(new Set());
    equal(run.run.output.trim(), inShell(text, plain.root, machine.home).trim(), command);
    // While an operation is under way, the user's repository is as it was.
    if (run.operation === undefined) ended = seen(plain, machine.home);
    deepEqual(seen(staged, machine.home), ended, command);
  }
}

/** In seconds. Git forgets what is much older. */
const begun = Math.floor(Date.now() / 1000);

/** With the same times, commits have the same names on both sides. */
function dated(text: string, index: number): string {
  const time = `${begun + index * 60} +0000`;
  return `export GIT_AUTHOR_DATE='${time}' GIT_COMMITTER_DATE='${time}'; ${text}`;
}

function seen({ root }: TemporaryDirectory, home: string): string {
  const ofHeads = "git for-each-ref refs/heads refs/stash; git log -1 --format=%gs%H -g HEAD | tail -c 41";
  const flags = "git ls-files -v; git rev-parse --abbrev-ref HEAD; git stash list --format=%H";
  return inShell(
    `exec 2>&1; ${ofHeads}; ${flags}; git ls-files -s; git status --porcelain -uall; git fsck --strict --no-dangling; ${tree}`,
    root,
    home,
  );
}

function inShell(text: string, cwd: string, home: string, status?: number): string {
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    LANG: "C.UTF-8",
    TERM: "dumb",
    GIT_EDITOR: "true",
    GIT_SEQUENCE_EDITOR: "true",
    GIT_PAGER: "cat",
    GIT_CONFIG_NOSYSTEM: "1",
  };
  const run = spawnSync("/bin/bash", ["-c", text], { cwd, env, encoding: "utf8" });
  if (status !== undefined) equal(run.status, status, run.stderr);
  // Of a line that is written several times, what it ends with.
  return run.stdout.replaceAll(/^.*\r(?!\n)/gm, "");
}
