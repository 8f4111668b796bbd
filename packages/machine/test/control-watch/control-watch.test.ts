import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { nothingAgreed } from "@gennai/governance/policies/agreed-control";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { withoutRoot } from "@gennai/testkit/without-root";
import { afterEach, describe, expect, test } from "vitest";
import { ControlWatch } from "#control-watch/control-watch";
import { keptAside } from "#control-watch/put-back-copies";
import { treeOf, type WatchedWorkspace, watchedWorkspace } from "./watched-workspace.ts";

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
});

const manifest = '{\n  "scripts": { "test": "node --test" },\n  "dependencies": { "a": "1.0.0" }\n}\n';

async function workspace(options: { readonly sandboxed?: boolean } = {}): Promise<WatchedWorkspace> {
  const made = await watchedWorkspace(
    {
      "package.json": manifest,
      "AGENTS.md": "Be kind.\n",
      Makefile: "all:\n",
      "sub/.vscode/tasks.json": "{}\n",
      "sub/tsconfig.json": "{}\n",
      "src/a.ts": "a\n",
      ".gitattributes": "* text\n",
      ".husky/pre-push": "npm test\n",
    },
    options,
  );
  open.push(made);
  await made.git("config", "user.name", "n");
  await made.git("config", "user.email", "e@example.org");
  chmodSync(join(made.root, ".husky/pre-push"), 0o755);
  await made.git("commit", "-qam", "Modes");
  return made;
}

const w = (path: string): string => `mkdir -p "$(dirname '${path}')"; echo evil > '${path}'`;

/** What a test run, a build or any program may do besides. */
const attacks: readonly (readonly [what: string, does: string, named: string])[] = [
  ...[
    ...[
      ".envrc",
      "CLAUDE.md",
      "AGENTS.override.md",
      ".claude/skills/evil/SKILL.md",
      ".github/workflows/x.yml",
      ".npmrc",
    ],
    ...[
      "sub/.devcontainer/devcontainer.json",
      "sub/deep/.husky/pre-commit",
      "src/AGENTS.md",
      "node_modules/.bin/eslint",
    ],
    ...["lint-staged.config.mjs", ".pylintrc", "sub/pytest.ini", "src/tsconfig.json", "x/y/flake.nix", ".gdbinit"],
    ...["dist/AGENTS.md", "build/.vscode/tasks.json", "node_modules/x/.git/hooks/post-checkout", "a.code-workspace"],
  ].map((path) => [`makes ${path}`, w(path), path] as const),
  ["changes AGENTS.md", "echo evil >> AGENTS.md", "AGENTS.md"],
  ["puts another AGENTS.md in its place", "echo evil > x; mv x AGENTS.md", "AGENTS.md"],
  ["makes it a link", "ln -sf /etc/passwd AGENTS.md", "AGENTS.md"],
  ["makes it a directory", "rm AGENTS.md; mkdir AGENTS.md; echo x > AGENTS.md/x", "AGENTS.md"],
  ["deletes it", "rm AGENTS.md", "AGENTS.md"],
  ["makes it a program", "chmod 755 AGENTS.md", "AGENTS.md"],
  [
    "keeps size and time of AGENTS.md",
    "touch -r AGENTS.md t; printf 'Be evil.\\n' | dd of=AGENTS.md conv=notrunc 2>/dev/null; touch -r t AGENTS.md; rm t",
    "AGENTS.md",
  ],
  ["adds a script", `sed -i 's/"scripts": {/"scripts": { "postinstall": "evil",/' package.json`, "package.json"],
  ["adds a dependency", `sed -i 's/"a": "1.0.0"/"a": "file:evil"/' package.json`, "package.json"],
  ["breaks package.json", "echo evil >> package.json", "package.json"],
  ["moves a directory of control files", "mv sub sub2", "sub/.vscode/tasks.json"],
  ["deletes one", "rm -r sub", "sub/.vscode/tasks.json"],
  ["puts a link in the place of a directory", "mv sub real; ln -s real sub", "sub/.vscode/tasks.json"],
  [
    "makes .husky a link",
    "mkdir h; echo evil > h/pre-push; mv .husky old 2>/dev/null; ln -s h src/.husky",
    "src/.husky",
  ],
  ["makes a nested repository", "git init -q v; git -C v config filter.x.clean evil", "v/.git"],
  ["makes one below node_modules", "mkdir -p node_modules/v; git init -q node_modules/v", "node_modules/v/.git"],
  ["makes a link of one to git's data", "mkdir v; echo 'gitdir: ../src' > v/.git", "v/.git"],
  ["names attributes", "mkdir -p .git/info; echo '* filter=x' > .git/info/attributes", ".git/info/attributes"],
  ["borrows objects", "echo /tmp > .git/objects/info/alternates", ".git/objects/info/alternates"],
  [
    "plants a rebase",
    "mkdir .git/rebase-merge; echo 'exec evil' > .git/rebase-merge/git-rebase-todo",
    ".git/rebase-merge",
  ],
  ["plants a sequence", "mkdir .git/sequencer; echo 'pick x' > .git/sequencer/todo", ".git/sequencer"],
  ["moves refs of a reftable", "mkdir -p .git/reftable; echo x > .git/reftable/tables.list", ".git/reftable"],
  ["makes a module in another one's objects", w(".git/modules/a/objects/config"), ".git/modules/a/objects/config"],
  [
    "makes a module",
    "mkdir -p .git/modules/m/hooks; echo evil > .git/modules/m/hooks/pre-commit; echo x > .git/modules/m/config",
    ".git/modules/m/config",
  ],
];

describe.each([
  ["in the sandbox", true],
  ["without one", false],
])("%s, a command of which nobody agreed to more than its words", (_where, sandboxed) => {
  test.each(attacks)("%s: all is as before, and it is said", async (_what, does, named) => {
    const { root, run, control } = await workspace({ sandboxed });
    const before = control();
    const { putBack, notes } = await run("npm test", does);
    const after = control();
    for (const [path, text] of Object.entries(before)) expect({ [path]: after[path] }).toEqual({ [path]: text });
    const left = Object.keys(after).filter((path) => !(path in before));
    expect(left.filter((path) => !ordinary.test(path))).toEqual([]);
    expect(putBack.files.filter(({ path }) => `${named}/`.startsWith(`${path}/`))).toHaveLength(1);
    expect(putBack.files.filter(({ what }) => what === "failed")).toEqual([]);
    expect(notes.join("\n")).toMatch(/put back, because nobody agreed to it: .*What the command left there lies in \//);
    expect(existsSync(join(root, "src/a.ts"))).toBe(true);
  });
});

/** What commands of these tests make beside. */
const ordinary = /^(?:sub2|real|h|old|v|t|x)(?:\/|$)|^node_modules\/v\/|\.git\/objects\/|\.git\/info\/refs/;

test("without a sandbox also git's configuration and hooks are as before", async () => {
  const { run, control } = await workspace({ sandboxed: false });
  const before = control();
  const { putBack } = await run(
    "npm test",
    "git config core.hooksPath evil; echo evil > .git/hooks/post-commit; echo x > .git/commondir; mkdir -p .git/worktrees/w; echo x > .git/worktrees/w/gitdir; echo evil > .vscode 2>/dev/null",
  );
  expect(control()).toEqual(before);
  expect(putBack.files.map(({ path }) => path)).toEqual(
    expect.arrayContaining([".git/config", ".git/hooks/post-commit", ".git/commondir", ".vscode"]),
  );
});

test("modes of directories keep nobody from putting back", async () => {
  await using directory = await temporaryDirectory();
  const [root, stateDir] = [join(directory.root, "w"), join(directory.root, "state")];
  for (const path of ["w/sub", "w/own", "state"]) mkdirSync(join(directory.root, path), { recursive: true });
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const path of ["AGENTS.md", "sub/AGENTS.md", "own/AGENTS.md"]) write(path, "good\n");
  await withoutRoot(directory.root, async () => {
    const { watch } = ControlWatch.open({ stateDir, home: homedir() });
    using _watch = watch;
    chmodSync(join(root, "own"), 0);
    const begun = watch.begin({ workspaceRoot: root, agreed: nothingAgreed, untouchable: [], timeoutMs: 30_000 });
    for (const path of ["AGENTS.md", "sub/AGENTS.md", "v/.git/config", "u/AGENTS.md", "s/x/.vscode/tasks.json"])
      write(path, "evil\n");
    for (const path of ["v/.git", "v", "u", "sub"]) chmodSync(join(root, path), 0o555);
    chmodSync(join(root, "s/x"), 0);
    chmodSync(join(root, "s"), 0o311);
    chmodSync(root, 0o555);
    const { files } = begun.end();
    expect(files.filter(({ what }) => what === "failed")).toEqual([]);
    expect(statSync(join(root, "own")).mode & 0o777).toBe(0);
    chmodSync(join(root, "own"), 0o755);
    expect(treeOf(root)).toEqual({
      "AGENTS.md": "644 good\n",
      "own/AGENTS.md": "644 good\n",
      "sub/AGENTS.md": "644 good\n",
    });
  });
});

test("what was put back lies aside, so that nothing of the user's is lost", async () => {
  const { run } = await workspace();
  const { notes } = await run("npm test", "echo mine > AGENTS.md; mkdir -p v/.git; echo x > v/.git/HEAD");
  const aside = /lies in (\/.*)\.\]/.exec(notes.join("\n"))?.[1] ?? "";
  expect(treeOf(aside)).toMatchObject({ "AGENTS.md": "644 mine\n", "v/.git/HEAD": "644 x\n" });
});

test("the directory of core.hooksPath is one of hooks", async () => {
  const { root, git, run } = await workspace();
  await git("config", "core.hooksPath", "tools/hooks");
  const { putBack } = await run(
    "npm test",
    "mkdir -p tools/hooks; echo evil > tools/hooks/pre-commit; echo ok > tools/x",
  );
  expect(putBack.files.length).toBeGreaterThan(0);
  expect(existsSync(join(root, "tools/hooks/pre-commit"))).toBe(false);
  expect(readFileSync(join(root, "tools/x"), "utf8")).toBe("ok\n");
});

test.each(["npm test", "git status && npm test"])(
  "after %s the next commit says what it said before",
  async (command) => {
    const { root, git, run } = await workspace();
    const staged = await git("ls-files", "--stage");
    const { putBack } = await run(
      command,
      "git update-index --add --cacheinfo 100755,$(echo evil | git hash-object -w --stdin),.husky/pre-commit; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),v",
    );
    expect(putBack.files).toMatchObject([{ what: "restored", reason: expect.stringContaining("commit") }]);
    expect(await git("ls-files", "--stage")).toBe(staged);
    // What is no control file is the command's own business.
    expect((await run("npm test", "echo b > src/b.ts; git add src/b.ts")).putBack.files).toEqual([]);
    expect(await git("ls-files", "src/b.ts")).toContain("src/b.ts");
    expect(existsSync(join(root, ".git/index.lock"))).toBe(false);
  },
);

describe("what was agreed to stays", () => {
  test.each<readonly [command: string, does: string | undefined, path: string, text: RegExp | undefined]>([
    [
      "npm test",
      "mkdir -p dist build/x; echo '{}' > dist/package.json; echo all: > build/x/Makefile",
      "dist/package.json",
      /\{\}/,
    ],
    [
      "npm test",
      "mkdir -p node_modules/x; echo '{}' > node_modules/x/package.json",
      "node_modules/x/package.json",
      /\{\}/,
    ],
    [
      "npm test",
      `printf '{"dependencies":{"a":"1.0.0"},"version":"1.0.1","scripts":{"test":"node --test"}}' > package.json`,
      "package.json",
      /1\.0\.1/,
    ],
    ["npm install b", `sed -i 's/"a": "1.0.0"/"a": "1.0.0", "b": "2.0.0"/' package.json`, "package.json", /"b"/],
    [
      "npm install b",
      "mkdir -p node_modules/.bin node_modules/b/.vscode; echo x > node_modules/.bin/b; echo x > node_modules/b/.vscode/x",
      "node_modules/.bin/b",
      /x/,
    ],
    ["npm pkg set scripts.x=y", `sed -i 's/"scripts": {/"scripts": { "x": "y",/' package.json`, "package.json", /"x"/],
    ["echo x > Makefile", undefined, "Makefile", /x/],
    ["sed -i s/kind/bold/ AGENTS.md", undefined, "AGENTS.md", /bold/],
    ["rm -r sub", undefined, "sub/tsconfig.json", undefined],
    ["mv sub moved", undefined, "moved/.vscode/tasks.json", /\{\}/],
    ["./configure", "echo made > Makefile", "Makefile", /made/],
    ["git init -q v", undefined, "v/.git/config", /core/],
    ["git clone -q . copy", undefined, "copy/AGENTS.md", /kind/],
  ])("%s", async (command, does, path, text) => {
    const { root, run } = await workspace();
    expect((await run(command, does)).putBack.files).toEqual([]);
    if (text === undefined) expect(existsSync(join(root, path))).toBe(false);
    else expect(readFileSync(join(root, path), "utf8")).toMatch(text);
  });

  test.each<readonly [command: string, does: string, path: string]>([
    ["npm install b", `sed -i 's/"scripts": {/"scripts": { "postinstall": "evil",/' package.json`, "package.json"],
    ["npm install b", "echo evil > AGENTS.md", "AGENTS.md"],
    ["npm install b", "git init -q node_modules/b", "node_modules/b/.git"],
    ["rm -r sub", "echo evil > sub/.vscode/tasks.json", "sub/.vscode/tasks.json"],
    ["echo x > Makefile", "echo x > Makefile; echo evil > AGENTS.md", "AGENTS.md"],
    ["git commit -qam x", "echo evil > AGENTS.md; git commit -qam x", "AGENTS.md"],
    ["git checkout main && npm test", "echo evil > AGENTS.md", "AGENTS.md"],
    ["git rebase -x 'npm test' main", "echo evil > AGENTS.md", "AGENTS.md"],
    ["cp -r a .", "mkdir .husky2; echo evil > .envrc", ".envrc"],
  ])("but no more than that: %s", async (command, does, path) => {
    const { run } = await workspace();
    expect((await run(command, does)).putBack.files.map((each) => each.path)).toContain(path);
  });
});

describe("git moves what it tracks", () => {
  async function branches(): Promise<WatchedWorkspace> {
    const made = await workspace();
    await made.git("checkout", "-q", "-b", "other");
    made.write("AGENTS.md", "Be bold.\n");
    made.write(".claude/settings.json", "{}\n");
    await made.git("rm", "-q", "Makefile");
    await made.git("add", "-A");
    await made.git("commit", "-qm", "Other");
    await made.git("checkout", "-q", "main");
    return made;
  }

  test.each([
    "git checkout -q other",
    "git merge -q other",
    "git checkout -q other && npm --version",
    "git cherry-pick other",
    "git reset -q --keep other",
  ])("%s", async (command) => {
    const { run, control, git } = await branches();
    const { putBack, run: ended } = await run(command);
    expect({ putBack: putBack.files, exitCode: ended.exitCode }).toEqual({ putBack: [], exitCode: 0 });
    expect(control()).toMatchObject({ "AGENTS.md": "644 Be bold.\n", ".claude/settings.json": "644 {}\n" });
    expect(control()).not.toHaveProperty("Makefile");
    expect(await git("status", "--porcelain")).toBe("");
  });

  test("a stash goes away and comes back", async () => {
    const { run, control, write } = await workspace();
    write("AGENTS.md", "Mine.\n");
    expect((await run("git stash -q")).putBack.files).toEqual([]);
    expect(control()["AGENTS.md"]).toBe("644 Be kind.\n");
    expect((await run("git stash pop -q")).putBack.files).toEqual([]);
    expect(control()["AGENTS.md"]).toBe("644 Mine.\n");
  });

  test("a rebase that stops at a conflict goes on, and ends", async () => {
    const { root, run, control, write, git } = await branches();
    write("AGENTS.md", "Be brave.\n");
    await git("commit", "-qam", "Brave");
    const stopped = await run("git rebase -q other");
    expect(stopped.putBack.files).toEqual([]);
    expect(existsSync(join(root, ".git/rebase-merge/git-rebase-todo"))).toBe(true);
    expect(control()["AGENTS.md"]).toContain("<<<<<<<");
    write("AGENTS.md", "Be bold and brave.\n");
    expect((await run("git add AGENTS.md")).putBack.files).toEqual([]);
    const ended = await run("git rebase --continue", "GIT_EDITOR=true git rebase --continue");
    expect({ putBack: ended.putBack.files, exitCode: ended.run.exitCode }).toEqual({ putBack: [], exitCode: 0 });
    expect(existsSync(join(root, ".git/rebase-merge"))).toBe(false);
    expect(await git("log", "--format=%s")).toMatch(/^Brave\nOther\n/);
  });
});

test("a linked worktree's own data and that of its repository are looked after", async () => {
  const { root, git, stateDir } = await workspace();
  const tree = `${root}-tree`;
  await git("worktree", "add", "-q", tree, "-b", "linked");
  try {
    const { watch } = ControlWatch.open({ stateDir, home: "/nowhere" });
    const run = watch.begin({ workspaceRoot: tree, agreed: nothingAgreed, untouchable: [], timeoutMs: 1_000 });
    const data = join(root, ".git/worktrees", readdirSync(join(root, ".git/worktrees"))[0] ?? "");
    writeFileSync(join(root, ".git/hooks/post-commit"), "evil");
    writeFileSync(join(data, "config.worktree"), "evil");
    mkdirSync(join(data, "rebase-merge"));
    writeFileSync(join(data, "rebase-merge/git-rebase-todo"), "x evil");
    run.end();
    expect(existsSync(join(root, ".git/hooks/post-commit"))).toBe(false);
    expect(readdirSync(data)).not.toEqual(expect.arrayContaining(["config.worktree"]));
    expect(existsSync(join(data, "rebase-merge"))).toBe(false);
    watch[Symbol.dispose]();
  } finally {
    rmSync(tree, { recursive: true });
  }
});

describe("what a killed server leaves", () => {
  /** Begins a command in a process of its own, changes files as the command would, and dies. */
  function killed(root: string, stateDir: string, does: string): void {
    leave(root, stateDir, does, 'process.kill(process.pid, "SIGKILL")');
  }

  function leave(root: string, stateDir: string, does: string, last: string): void {
    const script = `
      import { ControlWatch } from "#control-watch/control-watch";
      import { nothingAgreed } from "@gennai/governance/policies/agreed-control";
      import { execFileSync } from "node:child_process";
      const { watch } = ControlWatch.open(${JSON.stringify({ stateDir, home: "/nowhere" })});
      const run = watch.begin({ workspaceRoot: ${JSON.stringify(root)}, agreed: nothingAgreed, untouchable: [], timeoutMs: 60000 });
      execFileSync("/bin/sh", ["-c", ${JSON.stringify(does)}], { cwd: ${JSON.stringify(root)} });
      ${last};`;
    const { status, signal, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: import.meta.dirname,
      encoding: "utf8",
    });
    expect([status, signal], stderr).toContain(last.includes("SIGKILL") ? "SIGKILL" : 0);
  }

  test("is put back by the next start, once", async () => {
    const { root, stateDir, control } = await workspace();
    const before = control();
    killed(root, stateDir, "echo evil > AGENTS.md; rm -r sub; mkdir -p v/.git; echo evil > .envrc");
    const { watch, recovered } = ControlWatch.open({ stateDir, home: "/nowhere" });
    expect(control()).toEqual(before);
    expect(recovered.map(({ workspaceRoot }) => workspaceRoot)).toEqual([root]);
    watch[Symbol.dispose]();
    const again = ControlWatch.open({ stateDir, home: "/nowhere" });
    expect(again.recovered).toEqual([]);
    again.watch[Symbol.dispose]();
  });

  test.each<[string, (own: string) => string[]]>([
    ["kept bytes", (own) => readdirSync(join(own, "bytes")).map((name) => join(own, "bytes", name))],
    ["its journal", (own) => readdirSync(own).flatMap((name) => (name.endsWith(".json") ? [join(own, name)] : []))],
  ])("with %s damaged keeps nobody from starting, is said once and kept", async (_what, damaged) => {
    const { root, stateDir } = await workspace();
    killed(root, stateDir, "echo evil > AGENTS.md; echo '{}' > package.json");
    const parent = join(stateDir, "control-watch");
    const left = readdirSync(parent).filter((name) => !name.startsWith(`${process.pid}-`));
    expect(left).toHaveLength(1);
    for (const path of left.flatMap((name) => damaged(join(parent, name)))) truncateSync(path, 1);
    const { watch, recovered } = ControlWatch.open({ stateDir, home: "/nowhere" });
    const files = recovered.flatMap((each) => each.files);
    expect(files).toEqual(expect.arrayContaining([expect.objectContaining({ what: "failed" })]));
    expect(readFileSync(join(root, "AGENTS.md"), "utf8")).toBe("evil\n");
    expect(readdirSync(join(stateDir, "put-back/failed"))).toHaveLength(1);
    watch[Symbol.dispose]();
    const again = ControlWatch.open({ stateDir, home: "/nowhere" });
    expect(again.recovered).toEqual([]);
    again.watch[Symbol.dispose]();
  });

  test("in order, but with something not put back, is tried once more by the next start", async () => {
    const { root, stateDir } = await workspace();
    const does = `echo evil > AGENTS.md; mv ${root} ${root}.moved`;
    leave(root, stateDir, does, "run.end(); watch[Symbol.dispose]()");
    renameSync(`${root}.moved`, root);
    const { watch, recovered } = ControlWatch.open({ stateDir, home: "/nowhere" });
    expect(readFileSync(join(root, "AGENTS.md"), "utf8")).toBe("Be kind.\n");
    expect(recovered).toMatchObject([{ workspaceRoot: root, files: [{ path: "AGENTS.md", what: "restored" }] }]);
    watch[Symbol.dispose]();
  });

  test("what the user changes later than the command could have is left", async () => {
    const { root, stateDir, control } = await workspace();
    killed(root, stateDir, "echo evil > .envrc");
    // As if the command had been started, and had to be over, long ago.
    const parent = join(stateDir, "control-watch");
    for (const name of readdirSync(parent)) {
      for (const file of readdirSync(join(parent, name)).filter((each) => each.endsWith(".json"))) {
        const path = join(parent, name, file);
        const journal = JSON.parse(readFileSync(path, "utf8")) as object;
        if (!readFileSync(path, "utf8").includes(root)) continue;
        writeFileSync(path, JSON.stringify({ ...journal, deadline: Date.now() - 60_000 }));
      }
    }
    writeFileSync(join(root, "AGENTS.md"), "The user's.\n");
    const { watch, recovered } = ControlWatch.open({ stateDir, home: "/nowhere" });
    expect(recovered).toEqual([]);
    expect(control()["AGENTS.md"]).toBe("644 The user's.\n");
    watch[Symbol.dispose]();
  });

  test.each<[string, (root: string, elsewhere: string) => void]>([
    ["a link to another one", (root, elsewhere) => symlinkSync(elsewhere, root)],
    ["another one", (root, elsewhere) => renameSync(elsewhere, root)],
    ["nothing", () => undefined],
  ])("where %s stands in the workspace's place, nothing is put back, and that is said", async (_name, put) => {
    const { root, stateDir } = await workspace();
    await using other = await temporaryDirectory({ "its/AGENTS.md": "Theirs.\n", "its/sub/.envrc": "theirs\n" });
    const elsewhere = other.path("its");
    killed(root, stateDir, "echo evil > AGENTS.md");
    renameSync(root, `${root}.moved`);
    put(root, elsewhere);
    const before = treeOf(existsSync(elsewhere) ? elsewhere : root);
    const { watch, recovered } = ControlWatch.open({ stateDir, home: "/nowhere" });
    expect(treeOf(existsSync(elsewhere) ? elsewhere : root)).toEqual(before);
    expect(readFileSync(join(`${root}.moved`, "AGENTS.md"), "utf8")).toBe("evil\n");
    expect(recovered).toMatchObject([{ workspaceRoot: root, files: [{ path: root, what: "failed" }] }]);
    expect(readdirSync(join(stateDir, "put-back"))).toEqual(["failed"]);
    watch[Symbol.dispose]();
    rmSync(root, { recursive: true, force: true });
    renameSync(`${root}.moved`, root);
  });
});

test("a command that puts a link in the workspace's place has nothing put back behind it", async () => {
  await using other = await temporaryDirectory({ "AGENTS.md": "Theirs.\n", "sub/.envrc": "theirs\n" });
  const { root, run } = await workspace({ sandboxed: false });
  const before = treeOf(other.root);
  const { putBack } = await run(
    "npm test",
    `echo evil > .envrc; mv ${root} ${root}.moved; ln -s ${other.root} ${root}`,
  );
  expect(treeOf(other.root)).toEqual(before);
  expect(putBack.files).toMatchObject([{ path: root, what: "failed" }]);
  rmSync(root);
  renameSync(`${root}.moved`, root);
});

test("what lies aside goes when it is old, or too much", async () => {
  const { root, stateDir, run } = await workspace({ sandboxed: false });
  const { putBack } = await run("npm test", "echo evil > AGENTS.md");
  const directory = dirname(putBack.keptIn);
  const now = Date.now();
  const old = `${now - keptAside.days * 86_400_000 - 1}-1`;
  const others = Array.from({ length: keptAside.commands + 5 }, (_each, index) => `${now - 1_000 - index}-1`);
  for (const name of [old, ...others]) mkdirSync(join(directory, name, "closed"), { recursive: true });
  chmodSync(join(directory, old, "closed"), 0);
  await run("npm test", "echo evil > .envrc");
  const kept = readdirSync(directory);
  expect(kept).toHaveLength(keptAside.commands);
  expect(kept).not.toContain(old);
  expect(existsSync(join(putBack.keptIn, "AGENTS.md"))).toBe(true);
  mkdirSync(join(directory, old));
  ControlWatch.open({ stateDir, home: "/nowhere" }).watch[Symbol.dispose]();
  expect(existsSync(join(directory, old))).toBe(false);
  expect(existsSync(root)).toBe(true);
});

test("a hook that is too large to be kept stays where it is, and that is said", async () => {
  const { root, run } = await workspace({ sandboxed: false });
  const hook = join(root, ".git/hooks/pre-push");
  writeFileSync(hook, Buffer.alloc(20 * 1024 * 1024, "#"));
  const { putBack, notes } = await run("npm test", "echo more >> .git/hooks/pre-push");
  expect(statSync(hook).size).toBe(20 * 1024 * 1024 + 5);
  expect(putBack.files).toMatchObject([{ path: ".git/hooks/pre-push", what: "failed" }]);
  expect(notes.join("\n")).toContain("too large");
});

test("a tree that cannot be looked through lets no command run", async () => {
  const { root, run } = await workspace({ sandboxed: false });
  mkdirSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff])]));
  await expect(run("npm test", "touch ran")).rejects.toMatchObject({ code: "workspace_not_watched" });
  expect(existsSync(join(root, "ran"))).toBe(false);
});

test("a command that makes one has all else put back, and is told of it", async () => {
  const { root, run } = await workspace({ sandboxed: false });
  const { putBack } = await run("npm test", "echo evil > .envrc; mkdir $'\\xff'");
  expect(putBack.files).toEqual(expect.arrayContaining([expect.objectContaining({ what: "failed" })]));
  expect(existsSync(join(root, ".envrc"))).toBe(false);
});

test("a link that stood in the workspace is followed by nobody", async () => {
  await using outside = await temporaryDirectory({ "tasks.json": "theirs\n" });
  const { root, run } = await workspace({ sandboxed: false });
  await run("npm test", `rm -r sub; ln -s ${outside.root} sub; mkdir -p ${outside.root}/.vscode`);
  expect(readFileSync(join(root, "sub/.vscode/tasks.json"), "utf8")).toBe("{}\n");
  expect(readdirSync(outside.root).sort()).toEqual([".vscode", "tasks.json"]);
  expect(readdirSync(join(outside.root, ".vscode"))).toEqual([]);
});
