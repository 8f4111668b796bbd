import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nothingAgreed } from "@gennai/governance/policies/files/agreed-control";
import { describe, expect, test } from "vitest";
import { ControlWatch } from "#control-watch/control-watch";
import { controlProject } from "./control-project.ts";

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
  ["puts a file in the place of a directory", "rm -r sub; echo x > sub; echo evil > AGENTS.md", "AGENTS.md"],
  ["puts a link to itself there", "rm -r sub; ln -s sub sub; echo evil > AGENTS.md", "AGENTS.md"],
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
    const { root, run, control } = await controlProject({ sandboxed });
    const before = control();
    const { putBack, notes } = await run("npm test", does);
    const after = control();
    for (const [path, text] of Object.entries(before)) expect({ [path]: after[path] }).toEqual({ [path]: text });
    const left = Object.keys(after).filter((path) => !(path in before));
    expect(left.filter((path) => !ordinary.test(path))).toEqual([]);
    expect(putBack.files.filter(({ path }) => `${named}/`.startsWith(`${path}/`))).toHaveLength(1);
    expect(putBack.files.filter(({ what }) => what === "failed")).toEqual([]);
    expect(notes.join("\n")).toMatch(/put back, because nobody agreed to it: ./);
    // What only deletes leaves nothing.
    const lies = /What the command left there lies in (\/.*)\.\]/.exec(notes.join("\n"))?.[1];
    expect([lies === undefined, existsSync(lies ?? "")]).toEqual([/^rm (?:-r )?\S+$/.test(does), lies !== undefined]);
    expect(existsSync(join(root, "src/a.ts"))).toBe(true);
  });
});

/** What commands of these tests make beside. */
const ordinary = /^(?:sub2|real|h|old|v|t|x)(?:\/|$)|^node_modules\/v\/|\.git\/objects\/|\.git\/info\/refs/;

test("without a sandbox also git's configuration and hooks are as before", async () => {
  const { run, control } = await controlProject({ sandboxed: false });
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

test("the directory of core.hooksPath is one of hooks", async () => {
  const { root, git, run } = await controlProject();
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
    const { root, git, run } = await controlProject();
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

test("a linked worktree's own data and that of its repository are looked after", async () => {
  const { root, git, stateDir } = await controlProject();
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
