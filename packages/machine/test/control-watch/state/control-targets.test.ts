import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { afterEach, describe, expect, test } from "vitest";
import { controlTargets } from "#control-watch/state/control-targets";
import { type WatchedWorkspace, watchedWorkspace } from "../watched-workspace.ts";

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
});

/** Control files that lead to ordinary ones, in the ways that there are. */
async function workspace(options: { readonly sandboxed?: boolean } = {}): Promise<WatchedWorkspace> {
  const made = await watchedWorkspace(
    {
      "documentation/guide.txt": "Be kind.\n",
      "ai/skills/good/SKILL.md": "Be kind.\n",
      "ai/more/x.md": "more\n",
      "scripts/hook.sh": "true\n",
      "scripts/hooks/post-commit": "true\n",
      "scripts/clean.sh": "cat\n",
      "inc.txt": "[include]\n\tpath = more/inc.txt\n",
      "more/inc.txt": "[core]\n\thooksPath = scripts/hooks\n",
      "attributes.txt": "*.x text\n",
      "ignored.txt": "*.o\n",
      "src/a.ts": "a\n",
    },
    options,
  );
  open.push(made);
  const { root, git } = made;
  const link = (target: string, path: string): void => symlinkSync(target, join(root, path));
  link("documentation", "docs");
  link("docs/guide.txt", "between");
  link("between", "CLAUDE.md");
  link("docs/later.txt", "AGENTS.md");
  mkdirSync(join(root, ".claude"));
  link("../ai/skills", ".claude/skills");
  link("../..", ".claude/all");
  link("../more", "ai/skills/more");
  link("../../scripts/hook.sh", ".git/hooks/pre-commit");
  chmodSync(join(root, "scripts/hook.sh"), 0o755);
  await git("config", "user.name", "n");
  await git("config", "user.email", "e@example.org");
  await git("config", "include.path", "../inc.txt");
  await git("config", "includeIf.onbranch:x.path", "../absent.txt");
  await git("config", "core.attributesFile", "attributes.txt");
  await git("config", "core.excludesFile", "ignored.txt");
  await git("config", "filter.x.clean", "sh scripts/clean.sh %f");
  await git("add", "-A");
  await git("commit", "-qnm", "Links");
  return made;
}

const attacks: readonly (readonly [what: string, does: string])[] = [
  ["rewrites the end of a chain of links", "echo evil > documentation/guide.txt"],
  ["adds to it by way of the link", "echo evil >> CLAUDE.md"],
  [
    "keeps its size and times",
    "touch -r documentation/guide.txt t; printf 'Be evil.\\n' > documentation/guide.txt; touch -r t documentation/guide.txt; rm t",
  ],
  ["adds to it by another name", "ln documentation/guide.txt x; echo evil >> x; rm x"],
  ["moves it away", "mv documentation/guide.txt x; echo evil > documentation/guide.txt; rm x"],
  [
    "moves the directory that it is in",
    "mv documentation d; mkdir documentation; echo evil > documentation/guide.txt; rm -r d",
  ],
  ["makes that directory a link", "mv documentation src/d; ln -s src/d documentation; echo evil > src/d/guide.txt"],
  [
    "makes it a link out of the workspace",
    "d=$(mktemp -d); mv documentation $d/d; ln -s $d/d documentation; echo evil > $d/d/guide.txt; echo evil > $d/d/later.txt",
  ],
  ["turns a link between", "ln -sfn src/a.ts between"],
  ["turns a directory's link", "mkdir e; echo evil > e/guide.txt; ln -sfn e docs; rm -r e"],
  ["makes what was to come", "echo evil > documentation/later.txt"],
  ["adds to a directory", "mkdir ai/skills/evil; echo evil > ai/skills/evil/SKILL.md"],
  ["adds to a directory that a link in it leads to", "echo evil > ai/more/y.md"],
  ["rewrites what a hook leads to", "echo evil >> scripts/hook.sh"],
  ["lets nobody run it", "chmod 644 scripts/hook.sh"],
  ["rewrites what git's configuration includes", "printf '[core]\\n\\tfsmonitor = evil\\n' >> inc.txt"],
  ["rewrites what that includes", "printf '[core]\\n\\tfsmonitor = evil\\n' > more/inc.txt"],
  ["makes what it would include", "printf '[core]\\n\\tfsmonitor = evil\\n' > absent.txt"],
  ["makes a hook", "echo evil > scripts/hooks/pre-commit; chmod 755 scripts/hooks/pre-commit"],
  ["rewrites a hook", "echo evil > scripts/hooks/post-commit"],
  ["names attributes", "echo '* filter=x' >> attributes.txt"],
  ["names what git passes over", "echo '*' >> ignored.txt"],
  ["rewrites the program of a filter", "echo evil > scripts/clean.sh"],
  ["adds it to the index", "echo evil > documentation/guide.txt; git add documentation/guide.txt"],
];

describe.each([
  ["in the sandbox", true],
  ["without one", false],
])("%s, what control files lead to is as it was", (_where, sandboxed) => {
  test.each(attacks)("when a test %s", async (_what, does) => {
    const { run, control, git } = await workspace({ sandboxed });
    const before = control();
    const staged = await git("ls-files", "-s");
    const { putBack } = await run("npm test", does);
    const after = control();
    const left = Object.keys(after).filter(
      (path) => !(path in before) && !/^(?:src\/d|e|d|\.git\/objects)\//.test(path),
    );
    expect(left).toEqual([]);
    for (const [path, text] of Object.entries(before)) expect({ [path]: after[path] }).toEqual({ [path]: text });
    expect(putBack.files.length).toBeGreaterThan(0);
    expect(putBack.files.filter(({ what }) => what === "failed")).toEqual([]);
    expect(await git("ls-files", "-s")).toBe(staged);
  });
});

test.each([
  ["echo more > documentation/guide.txt", "documentation/guide.txt", "more\n"],
  ["echo more > CLAUDE.md", "documentation/guide.txt", "more\n"],
  ["echo b > src/a.ts", "src/a.ts", "b\n"],
  ["git checkout -q other", "documentation/guide.txt", "other\n"],
  ["npm test", "documentation/new.txt", "new\n"],
])("what was agreed to stays: %s", async (command, path, text) => {
  const { run, control, git, write } = await workspace({ sandboxed: false });
  await git("checkout", "-qb", "other");
  write("documentation/guide.txt", "other\n");
  await git("commit", "-qnam", "Other");
  await git("checkout", "-q", "-");
  const { putBack } = await run(command, command === "npm test" ? "echo new > documentation/new.txt" : command);
  expect(putBack.files).toEqual([]);
  expect(control()[path]?.replace(/^\d+ /, "")).toBe(text);
});

test("what leads to more than anybody looks through lets no command run", async () => {
  const { run, root } = await workspace({ sandboxed: false });
  for (let directory = 0; directory < 21; directory += 1) {
    mkdirSync(join(root, `ai/skills/${directory}`));
    for (let file = 0; file < 1000; file += 1) writeFileSync(join(root, `ai/skills/${directory}/${file}`), "");
  }
  await expect(run("npm test", "true")).rejects.toMatchObject({
    code: "workspace_not_watched",
    message: expect.stringContaining("lead to more than 20000 others"),
  });
});

test("links that lead in a circle, out of the workspace or to all of it are followed no further", async () => {
  await using directory = await temporaryDirectory();
  const { root } = directory;
  symlinkSync("two", join(root, "one"));
  symlinkSync("one", join(root, "two"));
  symlinkSync("/etc/passwd", join(root, "out"));
  symlinkSync(".", join(root, "all"));
  const control = { level: "sensitive", what: "x" } as const;
  const links = new Map(["one", "out", "all"].map((name) => [join(root, name), control]));
  const targets = controlTargets(
    { links, configurations: [] },
    { roots: [root], workTrees: [root], home: "/home/you" },
  );
  expect([...targets.keys()]).toEqual([join(root, "two")]);
});
