import { expect, test } from "vitest";
import type { BranchChoice, BranchQuestion } from "../../src/git/branch-choices.ts";
import { GitBranchMode } from "../../src/git/git-branch-mode.ts";
import type { Git, GitRepository, RepositoryState } from "../../src/git/git-port.ts";

class FakeRepository implements GitRepository {
  current: RepositoryState;
  readonly branches: Set<string>;
  readonly listeners = new Set<() => void>();
  refusal: string | undefined;
  looks = 0;

  constructor(state: Partial<RepositoryState>, branches: readonly string[] = []) {
    this.current = { branch: "main", changedFiles: 0, conflicts: 0, ...state };
    this.branches = new Set(branches);
  }

  get branch() {
    return this.current.branch;
  }

  /** As VS Code does: whoever looks makes everybody hear of a change. */
  async state() {
    this.looks += 1;
    for (const listener of this.listeners) listener();
    return this.current;
  }

  async hasBranch(name: string) {
    return this.branches.has(name);
  }

  async createBranch(name: string) {
    await this.switchTo(name);
  }

  async switchTo(name: string) {
    if (this.refusal !== undefined) throw new Error(this.refusal);
    this.current = { ...this.current, branch: name };
  }

  onChange(listener: () => void) {
    this.listeners.add(listener);
    return { [Symbol.dispose]: () => void this.listeners.delete(listener) };
  }
}

function scene(
  found: FakeRepository | "no-repository" | "no-git",
  wanted: BranchChoice["type"] | undefined,
  isWritable = true,
) {
  const questions: BranchQuestion[] = [];
  const opened: string[] = [];
  const made = new FakeRepository({});
  const git: Git = {
    find: async () =>
      typeof found !== "string"
        ? { type: "repository", repository: found }
        : found === "no-git"
          ? { type: "no-git", reason: "git is not installed." }
          : { type: "no-repository" },
    init: async () => made,
  };
  const mode = new GitBranchMode({
    git,
    workspace: "/w",
    openScm: async () => void opened.push("scm"),
    openFolder: async () => void opened.push("folder"),
    files: { isWritable: async () => isWritable },
    ask: async (question) => {
      questions.push(question);
      return question.choices.find(({ choice }) => choice.type === wanted);
    },
  });
  return {
    mode,
    made,
    opened,
    offered: () => questions[0]?.choices.map(({ choice }) => choice.type),
    title: () => questions[0]?.title,
  };
}

const agent = "ai-agent/fix-it";

test.each([
  ["on main", new FakeRepository({}), ["create", "proposal", "look"]],
  ["the branch exists", new FakeRepository({}, [agent]), ["switch", "proposal", "look"]],
  ["on a free branch", new FakeRepository({ branch: "feature" }), ["create", "stay", "proposal"]],
  ["on an agent's branch", new FakeRepository({ branch: "ai-agent/other" }), ["stay", "create", "proposal"]],
  ["on a release branch", new FakeRepository({ branch: "release/1" }), ["create", "proposal", "look"]],
  ["on no branch", new FakeRepository({ branch: undefined }), ["create", "proposal", "look"]],
  ["not committed", new FakeRepository({ changedFiles: 2 }), ["create", "open-scm", "proposal", "look"]],
  ["in a merge", new FakeRepository({ changedFiles: 2, conflicts: 1 }), ["open-scm", "proposal"]],
  ["no repository", "no-repository", ["init", "proposal", "look"]],
  ["no git", "no-git", ["proposal", "look"]],
] as const)("%s: the choices", async (_, found, choices) => {
  const at = scene(found, undefined);
  expect(await at.mode.prepare("Fix it!")).toEqual({ type: "cancelled" });
  expect(at.offered()).toEqual(choices);
});

test("a branch that the server protects is not offered", async () => {
  const at = scene(new FakeRepository({ branch: "trunk" }), undefined);
  await at.mode.prepare("Fix it!", { protectedBy: "the project's configuration" });
  expect(at.offered()).toEqual(["create", "proposal", "look"]);
});

test.each([
  ["create", new FakeRepository({}), { type: "branch", name: agent, how: "created" }],
  ["switch", new FakeRepository({}, [agent]), { type: "branch", name: agent, how: "switched" }],
  ["stay", new FakeRepository({ branch: "feature" }), { type: "branch", name: "feature", how: "kept" }],
  ["stay", new FakeRepository({ branch: agent }, [agent]), { type: "branch", name: agent, how: "kept" }],
  ["init", "no-repository", { type: "branch", name: agent, how: "created" }],
  ["proposal", "no-git", { type: "proposal" }],
  ["look", new FakeRepository({}), { type: "look" }],
] as const)("%s is done", async (wanted, found, outcome) => {
  expect(await scene(found, wanted).mode.prepare("Fix it!")).toEqual(outcome);
});

test("committing first opens Source Control and starts nothing", async () => {
  const at = scene(new FakeRepository({ changedFiles: 1 }), "open-scm");
  expect(await at.mode.prepare("Fix it!")).toEqual({ type: "cancelled" });
  expect(at.opened).toEqual(["scm"]);
  expect(at.title()).toBe("You are on main with 1 file not committed. Where should the agent work?");
});

test.each([
  ['fatal: cannot switch branch while rebasing\nConsider "git rebase --quit".', "branch_failed", "Finish or abort"],
  ["error: Your local changes to these would be overwritten by checkout:\n\ta", "dirty_tree", "Commit or stash"],
])("after git's %j, which is %s, it says what helps", async (refusal, code, next) => {
  const repository = new FakeRepository({ changedFiles: 3 });
  repository.refusal = refusal;
  const failed = scene(repository, "create").mode.prepare("Fix it!");
  await expect(failed).rejects.toMatchObject({ code });
  await expect(failed).rejects.toThrow(next);
});

test("whoever watches the branch hears each once, and never makes git look again", async () => {
  const repository = new FakeRepository({});
  const { mode } = scene(repository, "create");
  const heard: (string | undefined)[] = [];
  const watching = await mode.watchBranch((branch) => heard.push(branch));
  await mode.prepare("fix it");
  const { looks } = repository;
  await repository.state();
  await new Promise((resolve) => setImmediate(resolve));
  expect(heard).toEqual(["main", agent]);
  expect(repository.looks).toBe(looks + 1);
  watching?.[Symbol.dispose]();
  await repository.switchTo("main");
  await repository.state();
  expect(heard).toEqual(["main", agent]);
});

test.each([
  ["a repository", new FakeRepository({})],
  ["no repository", "no-repository"],
] as const)(
  "in a read-only folder with %s, no branch is offered but Proposal Mode or another folder",
  async (_, found) => {
    const at = scene(found, "open-folder", false);
    expect(await at.mode.prepare("Fix it!")).toEqual({ type: "cancelled" });
    expect(at.title()).toBe("This folder is read-only: no branch can be made in it.");
    expect(at.offered()).toEqual(["proposal", "open-folder"]);
    expect(at.opened).toEqual(["folder"]);
    expect(await scene(found, "proposal", false).mode.prepare("Fix it!")).toEqual({ type: "proposal" });
  },
);
