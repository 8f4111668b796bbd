import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { workingTreeDiff } from "@gennai/cli/commands/run/working-tree-diff";
import { makeFirstCommit, planFirstCommit } from "@gennai/git/first-commit";
import { prepareBranch } from "@gennai/git/prepare-branch";
import { SecretsInGit } from "@gennai/git/secrets/printed-secrets";
import { addSessionWorktree, listSessionWorktrees, pruneSessionWorktrees } from "@gennai/git/session-worktree";
import { takeRefsBack } from "@gennai/git/take-refs-back";
import { readWorkspaceState } from "@gennai/git/workspace-state";
import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { secretPath } from "@gennai/governance/command/secret-paths";
import { WorkspaceCheckpoints } from "@gennai/store/checkpoints/workspace-checkpoints";
import { describe, expect, test } from "vitest";
import { sampleOf, seed } from "../../scripts/lib/tests/sample.mjs";
import {
  borrowedSettings,
  everyProgram,
  type HostileRepository,
  hostileRepository,
  names,
  nestedRepository,
  partialClone,
} from "./hostile-repository.ts";

const { signal } = new AbortController();

/** Commands of the model, of which the gate asks git what they would print: a few of them for each repository. */
const commands = [
  ...["git diff", "git diff HEAD", "git diff --ignore-submodules=none", "git diff --submodule=diff"],
  ...["git diff -G changed", "git status -v", "git log -p", "git log -S changed -p", "git show"],
  ...["git diff-index -p HEAD", "git diff-files -p", "git stash show -p", "git reflog show -p", "git grep changed"],
  ...["git grep --recurse-submodules changed", "git cat-file -p HEAD:plain.txt", "cd v && git diff", "git -C v diff"],
];

/** Everything of the server and of `gennai` that starts git over a workspace. */
const paths: Readonly<Record<string, (repository: HostileRepository) => Promise<unknown>>> = {
  "the state of the workspace": ({ root }) => readWorkspaceState(root, { protect: [], signal }),
  "the first commit": async ({ root }) => {
    writeFileSync(join(root, ".git", "HEAD"), "ref: refs/heads/unborn\n");
    // The person who runs the tests may have told git no name.
    appendFileSync(join(root, ".git", "config"), "[user]\n\tname = Somebody\n\temail = somebody@example.com\n");
    const planned = await planFirstCommit(root, { staysOut: () => false, signal });
    if (planned === undefined) throw new Error("There is nothing to be committed.");
    await makeFirstCommit(root, planned);
  },
  "what the gate asks about commands": async ({ root }) => {
    const secrets = new SecretsInGit((path) => (secretPath(path) === undefined ? "allowed" : "refused"));
    for (const command of sampleOf(commands, 5)) {
      for (const contents of analyseCommand(command, { cwd: root, home: "/home/dev", workspace: root }).contents) {
        await secrets.printed(contents, { signal });
      }
    }
  },
  "the diff at the end of a run": ({ root }) =>
    workingTreeDiff(root, ["clean.txt", "process.txt", "odd.txt", "text.txt", "external.txt", "new.txt", "v"], {
      signal,
    }),
  "a checkpoint, and what changed since": async ({ root, elsewhere }) => {
    const stateDir = join(elsewhere, "state");
    mkdirSync(stateDir, { mode: 0o700 });
    await using checkpoints = new WorkspaceCheckpoints({ stateDir, root });
    const id = await checkpoints.open("session", signal);
    writeFileSync(join(root, "new.txt"), "new\n");
    await checkpoints.close(id);
    expect(await checkpoints.changesOf(id)).toMatchObject([{ path: "new.txt" }]);
  },
  "a new branch": ({ root }) => prepareBranch({ directory: root, task: "x", protect: [], signal }),
  "a branch with other files": async ({ root, write }) => {
    for (const name of names) write(name, `${name}\n`);
    await prepareBranch({ directory: root, task: "x", branch: "other", protect: [], signal });
    expect(readFileSync(join(root, "clean.txt"), "utf8")).toBe("other\n");
  },
  "refs that are taken back": async ({ root, git }) => {
    const from = git("rev-parse", "HEAD").trim();
    const to = readFileSync(join(root, ".git", "HEAD"), "utf8").trim();
    await takeRefsBack(root, [
      { name: "HEAD", from: "ref: refs/heads/other", to },
      { name: "refs/heads/gone", from },
      { name: "refs/stash", from },
    ]);
  },
  "working trees of sessions": async ({ root }) => {
    await addSessionWorktree({ directory: root, task: "one", signal });
    const two = await addSessionWorktree({ directory: root, task: "two", signal });
    rmSync(two.path, { recursive: true });
    await listSessionWorktrees(root, signal);
    await pruneSessionWorktrees(root, { stateDir: `${root}.state`, signal });
  },
};

/** Makes a repository of each kind. */
export const repositories: Readonly<Record<string, () => HostileRepository>> = {
  "every program that settings, attributes and hooks can name": everyProgram,
  "a nested repository as a submodule": nestedRepository,
  "a partial clone whose remote is a program": partialClone,
  "data of another repository": borrowedSettings,
};

/** What git cannot do without what is elsewhere. */
const refused: readonly string[] = [
  "a partial clone whose remote is a program: the first commit",
  "a partial clone whose remote is a program: working trees of sessions",
  "data of another repository: the first commit",
  "data of another repository: a new branch",
  "data of another repository: a branch with other files",
  "data of another repository: refs that are taken back",
  "data of another repository: working trees of sessions",
];

/** What must hold with a sandbox and without. @param kinds of repositories */
export function describeEveryPath(kinds: readonly string[]): void {
  describe.each(kinds)("%s", (kind) => {
    const make = repositories[kind] ?? hostileRepository;

    test.each(Object.keys(paths))(`%s runs none (seed ${seed})`, async (path) => {
      const repository = make();
      repository.ran();
      const done = paths[path]?.(repository);
      // What cannot be done there is refused.
      if (refused.includes(`${kind}: ${path}`)) await expect(done).rejects.toThrow();
      else await done;
      expect(repository.ran()).toEqual([]);
    });
  });

  test("a linked working tree and a submodule are what they say", async () => {
    const { root, git, elsewhere } = hostileRepository();
    git("worktree", "add", "--quiet", join(elsewhere, "linked"));
    git("clone", "--quiet", "--bare", root, join(elsewhere, "source"));
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", join(elsewhere, "source"), "sub");
    for (const directory of [join(elsewhere, "linked"), join(root, "sub")]) {
      writeFileSync(join(directory, "plain.txt"), "changed\n");
      expect(await readWorkspaceState(directory, { protect: [], signal })).toMatchObject({
        git: "ready",
        changedFiles: 1,
      });
    }
  });
}
