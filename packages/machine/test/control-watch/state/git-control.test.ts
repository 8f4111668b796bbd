import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { gitControl, pathInGit } from "#control-watch/state/git-control";

const counts: readonly string[] = [
  ...["config", "config.worktree", "commondir", "hooks/pre-commit", "hooks/lib/more.sh", "info/attributes"],
  ...["objects/info/alternates", "rebase-merge/git-rebase-todo", "sequencer/todo", "worktrees/w/gitdir"],
  ...["Config", "HOOKS/pre-commit", "Info/Attributes", "reftable/tables.list"],
  ...["worktrees/w/config.worktree", "worktrees/objects/commondir", "worktrees/w/modules/a/config"],
  ...["modules/a/config", "modules/a/hooks/x", "modules/a/info/attributes", "modules/a/objects/info/alternates"],
  ...["modules/a/objects/config", "modules/a/objects/hooks/x", "modules/a/objects/ab/config"],
  ...["objects", "info", "hooks", "refs", "logs", "worktrees", "modules", "a/b"].flatMap((name) =>
    [`modules/${name}`, `modules/x/${name}/y`, `modules/x/${name}`].flatMap((module) => [
      `${module}/config`,
      `${module}/hooks/pre-commit`,
      `${module}/info/attributes`,
      `${module}/objects/info/alternates`,
      `${module}/modules/${name}/config`,
      `${module}/modules/n/hooks/pre-push`,
    ]),
  ),
];

const passes: readonly string[] = [
  ...["HEAD", "index", "description", "refs/heads/main", "logs/HEAD", "objects/ab/cd", "objects/pack/p.pack"],
  ...["info/exclude", "objects/info/commit-graph", "worktrees/w/HEAD", "worktrees/w/index"],
  ...["a", "a/b", "lib/hooks/x", "hooks", "lib/hooks"].flatMap((name) =>
    ["HEAD", "index", "COMMIT_EDITMSG", "refs/heads/main", "logs/refs/heads/main", "objects/ab/cd"].map(
      (path) => `modules/${name}/${path}`,
    ),
  ),
];

test.each([
  ["controls git", counts, true],
  ["is what git writes", passes, false],
])("what %s", async (_what, paths, expected) => {
  for (const path of paths) {
    await using directory = await temporaryDirectory();
    mkdirSync(dirname(join(directory.root, path)), { recursive: true });
    writeFileSync(join(directory.root, path), "");
    expect({ [path]: found(directory.root).includes(path) }).toEqual({ [path]: expected });
  }
});

test.each([
  [".git/config", "config"],
  ["sub/.git/hooks/x", "hooks/x"],
  [".git", ""],
  ["sub/.GIT/config", "config"],
  [".git/modules/a/.git/x", "x"],
  ["src/git/config", undefined],
  [".github/x", undefined],
])("%s lies in git's directory at %s", (path, inGit) => {
  expect(pathInGit(path)).toBe(inGit);
});

/** Every path below a directory of git's that counts, found as a walk finds it. */
function found(root: string, inGit = ""): readonly string[] {
  const within = (name: string): string => (inGit === "" ? name : `${inGit}/${name}`);
  const looked = gitControl(inGit, readdirSync(join(root, inGit), { withFileTypes: true }));
  return [...looked.found.map(within), ...looked.below.flatMap((name) => found(root, within(name)))];
}
