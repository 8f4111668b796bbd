import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { agreedControl, nothingAgreed } from "@gennai/governance/policies/files/agreed-control";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { describe, expect, test } from "vitest";
import { branchProject } from "./branch-project.ts";
import type { WatchedWorkspace } from "./watched-workspace.ts";

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
  ["all by a file in their place", "rm -r .git/refs/heads; echo x > .git/refs/heads", ".git/refs/heads/main"],
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
  [
    "main out of git's sight, in a file that is falsely said to be sorted",
    "git pack-refs --all; main=$(grep heads/main .git/packed-refs); sed -i '/heads.main$/d' .git/packed-refs; echo \"$main\" >> .git/packed-refs",
    ".git/packed-refs",
  ],
  [
    "what main is, by what a tag would lead to",
    'git pack-refs --all; sed -i "/heads.main$/a ^$(git rev-parse work)" .git/packed-refs',
    ".git/packed-refs",
  ],
  [
    "all by what a tag leads to, twice",
    'for i in 1 2; do echo "^$(git rev-parse work)" >> .git/packed-refs; done',
    ".git/packed-refs",
  ],
  [
    "all by a name that leads elsewhere",
    'echo "$(git rev-parse work) refs/replace/../../config" >> .git/packed-refs',
    ".git/packed-refs",
  ],
  [
    "all by a line without an end",
    'printf %s "$(git rev-parse work) refs/heads/x" >> .git/packed-refs',
    ".git/packed-refs",
  ],
  [
    "a new one, packed in more than can be looked at",
    'id=$(git rev-parse work); { echo "# pack-refs with: sorted "; echo "$id refs/heads/release/2"; yes "$id refs/heads/z" | head -n 1300000; } > .git/packed-refs',
    ".git/packed-refs",
  ],
  ["all by a directory", "mkdir -p .git/packed-refs/x", ".git/packed-refs"],
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
    const made = await branchProject({ sandboxed });
    const before = await stands(made);
    const { putBack, notes } = await made.run("npm test", does);
    expect(await stands(made)).toBe(before);
    expect(putBack.files.filter(({ path }) => path.startsWith(named))).not.toEqual([]);
    expect(putBack.files.filter(({ what }) => what === "failed")).toEqual([]);
    expect(notes.join("\n")).toContain(`put back, because nobody agreed to it: ${named}`);
    await made.git("fsck");
  });

  test("its own branch, or packs the others, may do so", async () => {
    const made = await branchProject({ sandboxed });
    const { putBack } = await made.run(
      "npm test",
      "git commit -q --allow-empty -m x && git pack-refs --all && git tag v1 && git branch more",
    );
    expect(putBack.files).toEqual([]);
    expect(await made.git("log", "-1", "--format=%s")).toBe("x");
    expect(await made.git("rev-parse", "more")).toBe(await made.git("rev-parse", "work"));
  });

  test("a packed branch away has moved nothing", async () => {
    const made = await branchProject({ sandboxed });
    await made.git("pack-refs", "--all");
    const before = await stands(made);
    await made.run("npm test", "git update-ref -d refs/heads/main; git update-ref refs/heads/release/1 work");
    expect(await stands(made)).toBe(before);
  });

  test("a packed branch by a second line has moved nothing", async () => {
    const made = await branchProject({ sandboxed });
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
  const made = await branchProject({ sandboxed: false });
  made.write("src/b.ts", "b\n");
  const { run, putBack } = await made.run(command);
  expect({ run, putBack: putBack.files }).toMatchObject({ run: { exitCode: 0 }, putBack: [] });
  expect(await made.git("branch", "--show-current")).toBe(onto);
});

test.each(["git commit -qam main", "git add -A && npm test", "git add -A && git commit -qm main && npm test"])(
  "what git was told to do is no more than that: %s",
  async (command) => {
    const made = await branchProject({ sandboxed: false });
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
  const { root, watch, git } = await branchProject({ sandboxed: false });
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
  const made = await branchProject({ sandboxed: false });
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
  const made = await branchProject();
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
