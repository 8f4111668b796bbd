import { deepEqual, equal, ok } from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NotCommitted } from "@gennai/machine/change-set/not-committed";
import { commit } from "#commit/commit";
import { undoCommit } from "#commit/undo-commit";
import { type GitEffect, observeGit } from "#observe/git-effects";
import { removeTransaction } from "#transaction/transaction";
import type { Scenarios } from "../run-scenarios.ts";
import { StageFixture } from "../stage-fixture.ts";

const files = { "a.txt": "a\n", "src/b.txt": "b\n", ".gitignore": "out/\n" };

function repository(): StageFixture {
  const fixture = new StageFixture(files);
  for (const args of [
    ["init", "-q", "-b", "main"],
    ["add", "-A"],
    ["commit", "-qm", "first"],
    ["tag", "v1"],
    ["branch", "other"],
  ]) {
    fixture.git(...args);
  }
  return fixture;
}

/** Each command, and in short what it does to the repository. */
const commands: Readonly<Record<string, readonly string[]>> = {
  "git status; git diff; git log": [],
  "touch a.txt; git status; git update-index --refresh": [],
  "echo x >> a.txt; git add a.txt": ["index a.txt", "objects 1"],
  "echo x >> a.txt; git commit -qam second": [
    "index a.txt",
    "objects 3",
    "ref refs/heads/main",
    "reflog HEAD",
    "reflog refs/heads/main",
  ],
  "git checkout -q other": ["head ref: refs/heads/main -> ref: refs/heads/other", "reflog HEAD"],
  "git tag v2; git tag -d v1; git branch -D other": [
    "ref refs/heads/other",
    "ref refs/tags/v1",
    "ref refs/tags/v2",
    "reflog shrinks refs/heads/other",
  ],
  "git pack-refs --all": [],
  "git pack-refs --all; git tag -d v1": ["ref refs/tags/v1"],
  "git gc -q --prune=now": ["objects 2"],
  "echo x >> a.txt; git stash -q": ["objects 4", "ref refs/stash", "reflog refs/stash", "work ORIG_HEAD"],
  "cd .git; mkdir -p lfs/tmp lfs/objects/aa/bb; cd lfs; x=$(printf %060d 0); touch tmp/x objects/aa/bb/x objects/aa/bb/aabb$x objects/aa/bb/bbaa$x":
    ["objects 1"],
  "git config core.pager evil": ["control config"],
  "echo x > .git/hooks/pre-commit; echo x > .git/info/attributes; echo / > .git/objects/info/alternates": [
    "control hooks/pre-commit",
    "control info/attributes",
    "control objects/info/alternates",
  ],
  "echo x > src/new.txt; ln src/new.txt .git/MERGE_MSG": ["control MERGE_MSG"],
  "ln -s ../a.txt .git/MERGE_MSG; ln -s ../../a.txt .git/refs/x; rm -r .git/logs; ln -s ../src .git/logs": [
    ...["control MERGE_MSG", "control logs", "control refs/x", "reflog shrinks HEAD"],
    ...["reflog shrinks refs/heads/main", "reflog shrinks refs/heads/other"],
  ],
  "echo x > .git/branches/other; git repack -qad; git multi-pack-index write; git commit-graph write; cd .git/objects; echo x > info/x; echo x > pack/x":
    ["control branches/other", "objects 2"],
  "git init -q nested": ["control config", "control hooks", "control info/exclude"],
  "git reflog expire --expire=now --all; rm .git/logs/HEAD; git reflog": ["reflog shrinks HEAD"],
  "echo x >> .git/logs/HEAD; tail -1 .git/logs/HEAD > .git/logs/refs/heads/main": [],
  "git symbolic-ref refs/heads/other refs/heads/main": ["reflog refs/heads/other", "unreadable refs/heads/other"],
  "mkdir .git/reftable; echo x > .git/reftable/tables.list": ["unreadable reftable/tables.list"],
  "cd .git; mkdir index.lock HEAD.lock refs/heads/main.lock shallow x worktrees; chmod 0 refs/tags; rmdir branches; mkdir -p rebase-merge":
    [],
  "cd .git; rm HEAD index COMMIT_EDITMSG packed-refs; mkdir HEAD index COMMIT_EDITMSG packed-refs": [
    "unreadable HEAD",
    "unreadable index",
  ],
  "git branch -m other other/one": [
    "ref refs/heads/other",
    "ref refs/heads/other/one",
    "reflog refs/heads/other/one",
    "reflog shrinks refs/heads/other",
  ],
  "echo x > .git/MERGE_RR; mkdir -p .git/rr-cache/1; echo x > .git/rr-cache/1/preimage": [],
  "rm .git/index": ["unreadable index"],
  "git rev-parse HEAD > .git/refs/stash": ["ref refs/stash", "unreadable refs/stash"],
  "cd .git; mkdir -p logs/refs; cp logs/HEAD logs/refs/stash": ["reflog refs/stash", "unreadable refs/stash"],
  "cd .git/logs; echo x > refs/heads/none; echo x > x; mkdir y": [],
  "git update-index --split-index; cd .git; mv sharedindex.* sharedindex.0": ["unreadable index"],
  "git update-index --skip-worktree a.txt; git update-index --assume-unchanged a.txt; touch n; git add -N n": [
    "objects 1",
  ],
  "echo garbage > .git/refs/heads/main": ["unreadable refs/heads/main"],
  "cd .git; git rev-parse HEAD | tee 'refs/heads/a b' > refs/heads/x~1; echo ref: refs/heads/../x > HEAD": [
    "unreadable HEAD",
    "unreadable refs/heads/a b",
    "unreadable refs/heads/x~1",
  ],
};

function short(effect: GitEffect): string {
  if (effect.type === "ref") return `ref ${effect.name}`;
  if (effect.type === "head") return `head ${effect.from} -> ${effect.to}`;
  if (effect.type === "index") return ["index", ...effect.changes.map(({ path }) => path)].join(" ");
  if (effect.type === "reflog") return `reflog ${effect.shrinks ? "shrinks " : ""}${effect.name}`;
  if (effect.type === "objects") return `objects ${effect.files.length}`;
  return `${effect.type} ${effect.path}`;
}

export const scenarios: Scenarios = {
  ...Object.fromEntries(
    Object.entries(commands).map(([command, wanted]) => [
      `reads what \`${command}\` does`,
      async () => {
        await using fixture = repository();
        const { observation, transaction } = await fixture.stage(command);
        const { effects } = observeGit(transaction, observation);
        const found = effects.map(short);
        // Of the repositories that are made, only what steers git is of interest here.
        const few = command.includes("init") ? found.filter((one) => wanted.includes(one)) : found;
        deepEqual([...new Set(few)].toSorted(), wanted);
        await removeTransaction(transaction);
      },
    ]),
  ),
  "commits as git does, and leaves a repository that git finds whole": async () => {
    await using fixture = repository();
    const before = fixture.git("rev-parse", "HEAD");
    const { run, observation, transaction } = await fixture.stage(
      "git checkout -qb feature/one && echo x >> a.txt && git commit -qam second && git gc -q && git pack-refs --all",
    );
    equal(run.exitCode, 0, run.output);
    const { dropped } = observeGit(transaction, observation);
    ok(dropped.size > 0, "gc removes loose objects");
    await commit(
      transaction,
      observation,
      observation.effects.filter((effect) => !dropped.has(effect)),
    );
    equal(fixture.git("status", "--porcelain"), "");
    equal(fixture.git("rev-parse", "--abbrev-ref", "HEAD"), "feature/one\n");
    equal(fixture.git("log", "--format=%s"), "second\nfirst\n");
    fixture.git("fsck", "--strict");
    equal(await undoCommit(fixture.stateDir, transaction.id), true);
    equal(fixture.git("rev-parse", "HEAD"), before);
    equal(fixture.git("status", "--porcelain"), "");
    fixture.git("fsck", "--strict");
  },
  "keeps no trees in the index that its entries do not say": async () => {
    await using fixture = repository();
    fixture.write({ "docs/d.md": "d\n" });
    fixture.git("add", "-A");
    fixture.git("commit", "-qm", "docs");
    const forge = [
      "import hashlib, subprocess as s",
      "evil = s.run(['git', 'hash-object', '-w', '--stdin'], input=b'evil', capture_output=True).stdout.strip()",
      "tree = s.run(['git', 'mktree'], input=b'100644 blob ' + evil + b'\\tb.txt', capture_output=True).stdout.decode().strip()",
      "src = s.run(['git', 'rev-parse', 'HEAD:src'], capture_output=True).stdout.decode().strip()",
      "b = open('.git/index', 'rb').read()[:-20].replace(bytes.fromhex(src), bytes.fromhex(tree))",
      "open('.git/index', 'wb').write(b + hashlib.sha1(b).digest())",
    ];
    writeFileSync(join(fixture.base, "tmp/forge.py"), forge.join("\n"));
    await fixture.keep("echo x >> a.txt; git add a.txt; python3 /tmp/forge.py; git status --short");
    fixture.write({ "docs/d.md": "mine\n" });
    fixture.git("commit", "-qam", "mine");
    equal(fixture.git("show", "HEAD:src/b.txt"), "b\n");
    equal(fixture.git("diff", "--name-only", "HEAD~1", "HEAD"), "a.txt\ndocs/d.md\n");
  },
  "keeps nothing while another git is at work": async () => {
    await using fixture = repository();
    const { observation, transaction } = await fixture.stage("echo x >> a.txt && git commit -qam second");
    const lock = join(fixture.root, ".git/index.lock");
    writeFileSync(lock, "");
    const before = fixture.tree();
    let failure: unknown;
    try {
      await commit(transaction, observation, observation.effects);
    } catch (error) {
      failure = error;
    }
    ok(failure instanceof NotCommitted && failure.code === "git_locked", String(failure));
    deepEqual(fixture.tree(), before);
    ok(existsSync(lock), "the other's lock is gone");
    await removeTransaction(transaction);
  },
  "keeps nothing over what the user committed meanwhile": async () => {
    await using fixture = repository();
    const { observation, transaction } = await fixture.stage("echo x >> a.txt && git commit -qam second");
    fixture.write({ "mine.txt": "mine\n" });
    fixture.git("add", "mine.txt");
    fixture.git("commit", "-qm", "mine");
    // Their log is longer, and nobody shortened it.
    const found = observeGit(transaction, observation).effects.map(short);
    deepEqual(
      found.filter((one) => one.startsWith("reflog")),
      ["reflog HEAD", "reflog refs/heads/main"],
    );
    const before = fixture.tree();
    let failure: unknown;
    try {
      await commit(transaction, observation, observation.effects);
    } catch (error) {
      failure = error;
    }
    ok(failure instanceof NotCommitted && failure.code === "stale_file", String(failure));
    deepEqual(fixture.tree(), before);
    equal(fixture.git("log", "--format=%s"), "mine\nfirst\n");
    await removeTransaction(transaction);
  },
  "stages git's data as well where it lies elsewhere": async () => {
    await using fixture = repository();
    const linked = join(fixture.base, "linked");
    fixture.git("worktree", "add", "-q", "-b", "linked", linked);
    fixture.gitIn(fixture.root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", fixture.root, "sub");
    fixture.git("commit", "-qam", "with a submodule");
    const places = [
      { cwd: linked, roots: [linked, join(fixture.root, ".git")] },
      { cwd: join(fixture.root, "src"), roots: [fixture.root] },
      { cwd: join(fixture.root, "sub"), roots: [fixture.root] },
    ];
    for (const { cwd, roots } of places) {
      const before = fixture.gitIn(cwd, "rev-parse", "HEAD");
      const { run, observation, transaction } = await fixture.stage(
        "echo x > new.txt && git add . && git commit -qm staged",
        { cwd },
      );
      equal(run.exitCode, 0, run.output);
      deepEqual(
        transaction.roots.map(({ path }) => path),
        roots,
      );
      equal(fixture.gitIn(cwd, "rev-parse", "HEAD"), before);
      const { effects } = observeGit(transaction, observation);
      ok(
        effects.some(({ type }) => type === "ref") && effects.some(({ type }) => type === "index"),
        JSON.stringify(effects),
      );
      await commit(transaction, observation, observation.effects);
      equal(fixture.gitIn(cwd, "log", "-1", "--format=%s"), "staged\n");
      fixture.gitIn(cwd, "fsck", "--strict");
      equal(fixture.gitIn(cwd, "status", "--porcelain", "."), "");
      equal(await undoCommit(fixture.stateDir, transaction.id), true);
      equal(fixture.gitIn(cwd, "rev-parse", "HEAD"), before);
    }
  },
  "opens no repository that does not name the workspace in return": async () => {
    await using fixture = new StageFixture(files);
    await using other = repository();
    fixture.write({ ".git": `gitdir: ${join(other.root, ".git")}\n` });
    const { run, observation, transaction } = await fixture.stage("git log; git config x.y z; true");
    equal(run.output.includes("first"), false, run.output);
    deepEqual([transaction.roots.length, observation.effects], [1, []]);
    await removeTransaction(transaction);
  },
  "commits no removal of what nobody touched: names that are not UTF-8, files that may not be read": async () => {
    await using fixture = repository();
    const at = (name: string): Buffer => Buffer.from(join(fixture.root, name), "latin1");
    for (const directory of ["d\xe9", "src/f\xe9"]) mkdirSync(at(directory));
    for (const name of ["caf\xe9.txt", "d\xe9/x.txt", "src/f\xe9/.env", "src/\xe9.txt"]) writeFileSync(at(name), "1\n");
    fixture.write({ "closed.txt": "1\n" });
    fixture.git("add", "-Af", ".");
    fixture.git("commit", "-qm", "names");
    chmodSync(join(fixture.root, "closed.txt"), 0);
    const tracked = fixture.git("ls-files", "-z");
    await fixture.keep("echo x >> a.txt; git add --ignore-errors -A .; git commit -qm second");
    equal(fixture.git("ls-files", "-z"), tracked);
    equal(fixture.git("diff", "--name-status", "HEAD~1", "HEAD"), "M\ta.txt\n");
    equal(fixture.git("ls-files", "-v").match(/^S/m), null);
    chmodSync(join(fixture.root, "closed.txt"), 0o644);
    equal(fixture.git("status", "--porcelain"), "");
    ok(!(await fixture.stage("cat src/f*/.env")).run.output.includes("1"));
  },
  "leaves tracked secrets alone in the index, whatever git does": async () => {
    for (const version of ["2", "3", "4"]) {
      await using fixture = new StageFixture({
        ...files,
        ".env": "SECRET=1\n",
        "keys/a.pem": "SECRET\n",
        "zz.txt": "z\n",
      });
      fixture.git("init", "-q", "-b", "main");
      fixture.git("config", "index.version", version);
      fixture.git("add", "-A");
      fixture.git("commit", "-qm", "first");
      const { run, observation, transaction } = await fixture.stage(
        "git status --porcelain; echo x >> a.txt; git add -A; git commit -qam second; git stash -q; git reset -q --hard HEAD~; git reset -q --hard ORIG_HEAD; git status --porcelain; git show --stat --format=; git fsck --strict",
      );
      equal(run.output.includes(".env") || run.output.includes("keys"), false, run.output);
      ok(run.output.includes("a.txt | 1 +"), run.output);
      const { effects, dropped } = observeGit(transaction, observation);
      const changed = effects.flatMap((effect) =>
        effect.type === "index" ? effect.changes.map(({ path }) => path) : [],
      );
      deepEqual(changed, ["a.txt"]);
      await commit(
        transaction,
        observation,
        observation.effects.filter((effect) => !dropped.has(effect)),
      );
      equal(fixture.git("status", "--porcelain"), "");
      deepEqual(
        fixture
          .git("ls-files", "-v")
          .split("\n")
          .filter((line) => !line.startsWith("H ") && line !== ""),
        [],
      );
      equal(fixture.read(".env"), "SECRET=1\n");
      fixture.git("fsck", "--strict");
      equal(await undoCommit(fixture.stateDir, transaction.id), true);
      equal(fixture.git("status", "--porcelain"), "");
    }
  },
};
