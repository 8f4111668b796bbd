import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { agreedControl, nothingAgreed } from "@gennai/governance/policies/agreed-control";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { afterEach, describe, expect, test } from "vitest";
import { ControlWatch } from "#control-watch/control-watch";
import { type WatchedWorkspace, watchedWorkspace } from "./watched-workspace.ts";

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
});

/** On the branch `work`, beside `main` and `release/1`; each a commit of its own. */
async function workspace(options: { readonly sandboxed?: boolean } = {}): Promise<WatchedWorkspace> {
  const made = await watchedWorkspace({ "src/a.ts": "a\n", "AGENTS.md": "Be kind.\n" }, options);
  open.push(made);
  const { git, write } = made;
  await git("config", "user.name", "n");
  await git("config", "user.email", "e@example.org");
  await git("branch", "-M", "main");
  for (const branch of ["release/1", "other", "work"]) {
    await git("checkout", "-qb", branch);
    write("src/a.ts", `${branch}\n`);
    await git("commit", "-qam", branch);
  }
  await git("update-ref", "refs/remotes/origin/trunk", "main");
  await git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk");
  await git("branch", "-f", "trunk", "main");
  return made;
}

/** HEAD and the protected refs. */
async function stands({ git }: WatchedWorkspace): Promise<string> {
  const names = ["refs/heads/main", "refs/heads/release", "refs/heads/trunk", "refs/remotes", "refs/replace"];
  const refs = await git("for-each-ref", "--format=%(refname) %(objectname) %(symref)", ...names);
  return `${await git("symbolic-ref", "HEAD")}\n${refs}`;
}

const attacks: readonly (readonly [what: string, does: string, named: string])[] = [
  ["HEAD to a protected branch", "echo 'ref: refs/heads/main' > .git/HEAD", ".git/HEAD"],
  ["HEAD by git", "git symbolic-ref HEAD refs/heads/main", ".git/HEAD"],
  ["HEAD to a commit", "git rev-parse main > .git/HEAD", ".git/HEAD"],
  ["HEAD as a link", "ln -sf refs/heads/main .git/HEAD", ".git/HEAD"],
  ["HEAD away", "rm .git/HEAD", ".git/HEAD"],
  [
    "HEAD, and gives it its time again",
    "touch -r .git/HEAD t; git symbolic-ref HEAD refs/heads/main; touch -r t .git/HEAD; rm t",
    ".git/HEAD",
  ],
  ["main by git", "git update-ref refs/heads/main work", ".git/refs/heads/main"],
  ["main by hand", "git rev-parse work > .git/refs/heads/main", ".git/refs/heads/main"],
  ["main, packed", "git update-ref refs/heads/main work; git pack-refs --all", ".git/refs/heads/main"],
  ["main away", "git update-ref -d refs/heads/main", ".git/refs/heads/main"],
  [
    "main by a directory in its place",
    "rm .git/refs/heads/main; mkdir .git/refs/heads/main; cp .git/refs/heads/work .git/refs/heads/main/x",
    ".git/refs/heads/main",
  ],
  ["main by breaking it", "echo x > .git/refs/heads/main", ".git/refs/heads/main"],
  ["main by a link", "cp .git/refs/heads/main m; ln -sf ../../../m .git/refs/heads/main", ".git/refs/heads/main"],
  ["all by a link", "mv .git/refs/heads h; ln -s ../../h .git/refs/heads", ".git/refs/heads/main"],
  ["release/1", "git update-ref refs/heads/release/1 work", ".git/refs/heads/release/1"],
  ["a new protected branch", "git update-ref refs/heads/release/2 work", ".git/refs/heads/release/2"],
  ["a new one, packed", "git update-ref refs/heads/release/2 work; git pack-refs --all", ".git/refs/heads/release/2"],
  ["the remote's default branch", "git update-ref refs/heads/trunk work", ".git/refs/heads/trunk"],
  [
    "a commit's place to another",
    "git update-ref refs/replace/$(git rev-parse main) $(git rev-parse work)",
    ".git/refs/replace/",
  ],
  [
    "a commit's place to another, packed after a TAB",
    `printf '%s\\t%s\\n' $(git rev-parse work) refs/replace/$(git rev-parse main) >> .git/packed-refs`,
    ".git/refs/replace/",
  ],
  [
    "a new one, packed in capitals",
    `echo "$(git rev-parse work | tr a-f A-F) refs/heads/release/2" >> .git/packed-refs`,
    ".git/refs/heads/release/2",
  ],
  [
    "a new one, packed twice",
    'for i in 1 2; do echo "$(git rev-parse work) refs/heads/release/2" >> .git/packed-refs; done',
    ".git/refs/heads/release/2",
  ],
  ["all by a line that git cannot read", "echo evil >> .git/packed-refs", ".git/packed-refs"],
  [
    "which one that is",
    "git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/x",
    ".git/refs/remotes/origin/HEAD",
  ],
];

describe.each([
  ["in the sandbox", true],
  ["without one", false],
])("%s, a test that moves", (_where, sandboxed) => {
  test.each(attacks)("%s has moved nothing", async (_what, does, named) => {
    const made = await workspace({ sandboxed });
    const before = await stands(made);
    const { putBack, notes } = await made.run("npm test", does);
    expect(await stands(made)).toBe(before);
    expect(putBack.files.filter(({ path }) => path.startsWith(named))).not.toEqual([]);
    expect(putBack.files.filter(({ what }) => what === "failed")).toEqual([]);
    expect(notes.join("\n")).toContain(`put back, because nobody agreed to it: ${named}`);
    await made.git("fsck");
  });

  test("its own branch, or packs the others, may do so", async () => {
    const made = await workspace({ sandboxed });
    const { putBack } = await made.run(
      "npm test",
      "git commit -q --allow-empty -m x && git pack-refs --all && git tag v1 && git branch more",
    );
    expect(putBack.files).toEqual([]);
    expect(await made.git("log", "-1", "--format=%s")).toBe("x");
    expect(await made.git("rev-parse", "more")).toBe(await made.git("rev-parse", "work"));
  });

  test("a packed branch away has moved nothing", async () => {
    const made = await workspace({ sandboxed });
    await made.git("pack-refs", "--all");
    const before = await stands(made);
    await made.run("npm test", "git update-ref -d refs/heads/main; git update-ref refs/heads/release/1 work");
    expect(await stands(made)).toBe(before);
  });

  test("a packed branch by a second line has moved nothing", async () => {
    const made = await workspace({ sandboxed });
    await made.git("pack-refs", "--all");
    const before = await stands(made);
    await made.run(
      "npm test",
      'id=$(git rev-parse work); sed -i "/heads.main$/i $id refs/heads/main" .git/packed-refs; rm -rf .git/refs/heads/main',
    );
    expect(await stands(made)).toBe(before);
  });
});

test.each([
  ["git commit -q --allow-empty -m x", "work"],
  ["git add -A && git commit -qm x", "work"],
  ["git checkout -qb new", "new"],
  ["git switch -qc new", "new"],
  ["git checkout -q other", "other"],
  ["git checkout -q main", "main"],
  ["git checkout -q main && cat src/a.ts", "main"],
  ["git checkout -qb new && npm --version", "new"],
  ["git branch -f release/1 work && npm --version", "work"],
  ["git checkout -q other && git merge -q work", "other"],
  ["git switch -q --detach main", ""],
  ["git update-ref refs/heads/main work", "work"],
  ["git rebase -q main", "work"],
])("what git was told to do stays: %s", async (command, onto) => {
  const made = await workspace({ sandboxed: false });
  made.write("src/b.ts", "b\n");
  const { run, putBack } = await made.run(command);
  expect({ run, putBack: putBack.files }).toMatchObject({ run: { exitCode: 0 }, putBack: [] });
  expect(await made.git("branch", "--show-current")).toBe(onto);
});

test.each(["git commit -qam main", "git add -A && npm test", "git add -A && git commit -qm main && npm test"])(
  "what git was told to do is no more than that: %s",
  async (command) => {
    const made = await workspace({ sandboxed: false });
    made.write("src/a.ts", "b\n");
    const main = await made.git("rev-parse", "main", "release/1");
    const { putBack } = await made.run(
      command,
      `${command.replace("npm test", "true")}; git update-ref refs/heads/main work; git symbolic-ref HEAD refs/heads/release/1`,
    );
    expect(putBack.files.map(({ path }) => path)).toEqual([".git/HEAD", ".git/refs/heads/main"]);
    expect(await made.git("rev-parse", "main", "release/1")).toBe(main);
    expect(await made.git("branch", "--show-current")).toBe("work");
  },
);

test("a branch that the project protects is protected here as well", async () => {
  const { root, watch, git } = await workspace({ sandboxed: false });
  const run = watch.begin({
    workspaceRoot: root,
    agreed: nothingAgreed,
    untouchable: [],
    timeoutMs: 30_000,
    protectedBranches: ["oth*"],
  });
  const before = await git("rev-parse", "other");
  await git("update-ref", "refs/heads/other", "main");
  expect(run.end().files).toMatchObject([{ path: ".git/refs/heads/other", what: "restored" }]);
  expect(await git("rev-parse", "other")).toBe(before);
});

test("what a person commits in another working tree, out of a command's reach, stays", async () => {
  const made = await workspace({ sandboxed: false });
  await using elsewhere = await temporaryDirectory();
  const tree = join(elsewhere.root, "tree");
  await made.git("checkout", "-q", "main");
  await made.git("worktree", "add", "-q", "-b", "agent", tree);
  const common = join(made.root, ".git");
  const begin = (untouchable: readonly string[]) =>
    made.watch.begin({ workspaceRoot: tree, agreed: nothingAgreed, untouchable, timeoutMs: 30_000 });
  const outOfReach = [join(common, "HEAD"), join(common, "logs/HEAD")];

  const first = begin(outOfReach);
  await made.git("commit", "-q", "--allow-empty", "-m", "By hand");
  expect(first.end().files).toEqual([]);
  expect(await made.git("log", "-1", "--format=%s", "main")).toBe("By hand");

  const second = begin(outOfReach);
  await made.git("-C", tree, "update-ref", "refs/heads/main", "work");
  expect(second.end().files).toMatchObject([{ what: "restored" }]);
  expect(await made.git("log", "-1", "--format=%s", "main")).toBe("By hand");

  const third = begin(outOfReach);
  execFileSync("git", ["-C", tree, "symbolic-ref", "HEAD", "refs/heads/release/1"]);
  expect(third.end().files).toMatchObject([{ what: "restored", reason: "where HEAD stands" }]);
  expect(await made.git("-C", tree, "branch", "--show-current")).toBe("agent");
});

test("in the sandbox, where another working tree stands cannot be changed", async () => {
  const made = await workspace();
  await using elsewhere = await temporaryDirectory();
  const tree = join(elsewhere.root, "tree");
  await made.git("worktree", "add", "-q", "-b", "agent", tree);
  const before = readFileSync(join(made.root, ".git/HEAD"), "utf8");
  await made.runIn(
    tree,
    "npm test",
    `echo 'ref: refs/heads/main' > ${made.root}/.git/HEAD; git commit -q --allow-empty -m x`,
  );
  expect(readFileSync(join(made.root, ".git/HEAD"), "utf8")).toBe(before);
  expect(await made.git("log", "-1", "--format=%s", "agent")).toBe("x");
});

describe("git's index, after a command that runs more than git", () => {
  const evil = "git update-index --add --cacheinfo 100644,$(echo evil | git hash-object -w --stdin),AGENTS.md";

  test.each([
    ["npm test", evil],
    ["git add src/a.ts && npm test", `git add src/a.ts; ${evil}`],
    ["git add -A && git commit -qm x && npm test", `git add -A; git commit -qm x; ${evil}`],
    ["git checkout -qb new && npm test", `git checkout -qb new; ${evil}`],
    ["npm install", evil],
    ["git add src/a.ts && npm test", "git add src/a.ts; git rm -q --cached AGENTS.md"],
    ["git add src/a.ts && npm test", "echo evil >> AGENTS.md; git add -A"],
    [
      "git add src/a.ts && npm test",
      "git init -q v; git -C v -c user.name=n -c user.email=e@e commit -q --allow-empty -m x; git add v",
    ],
  ])("%s: nothing of control files was added unseen", async (command, does) => {
    const made = await workspace();
    made.write("src/a.ts", "b\n");
    const before = await made.git("ls-files", "-s", "AGENTS.md", "v");
    await made.run(command, does);
    expect(await made.git("ls-files", "-s", "AGENTS.md", "v")).toBe(before);
    expect(made.control()).toMatchObject({ "AGENTS.md": "644 Be kind.\n" });
  });

  test("an index that a test made is gone", async () => {
    await using directory = await temporaryDirectory();
    const root = join(directory.root, "w");
    execFileSync("git", ["init", "-q", root]);
    const { watch } = ControlWatch.open({ stateDir: join(directory.root, "state"), home: homedir() });
    using _watch = watch;
    const run = watch.begin({ workspaceRoot: root, agreed: nothingAgreed, untouchable: [], timeoutMs: 30_000 });
    writeFileSync(join(root, "AGENTS.md"), "evil\n");
    execFileSync("git", ["-C", root, "add", "AGENTS.md"]);
    run.end();
    expect(execFileSync("git", ["-C", root, "ls-files"]).toString()).toBe("");
  });

  test("what git was told to add stays", async () => {
    const made = await workspace({ sandboxed: false });
    made.write("AGENTS.md", "Be kinder.\r\n");
    made.write(".gitattributes", "* text\n");
    await made.git("config", "core.autocrlf", "true");
    const { putBack } = await made.run("git add -A && npm --version");
    expect(putBack.files).toEqual([]);
    expect(await made.git("diff", "--cached", "--name-only")).toBe(".gitattributes\nAGENTS.md");
  });
});

test.each([
  ["git checkout -b x", { gitMoves: false, gitNames: ["x"] }],
  ["git switch --create x", { gitMoves: false, gitNames: ["x"] }],
  ["git checkout -b x main", { gitMoves: true, gitNames: ["x", "main"] }],
  ["git checkout main", { gitMoves: true, gitNames: ["main"] }],
  ["git commit -m main", { gitMoves: false, gitCommits: true, gitNames: [] }],
  ["git add main", { gitMoves: false, gitCommits: false, gitNames: [] }],
])("%s says what git may do to branches", (command, expected) => {
  expect(agreedControl(analyseCommand(command, { cwd: "/w", home: "/home/you" }))).toMatchObject(expected);
});
