import { expect, it } from "vitest";
import { WindowBranch, type WindowBranchOptions } from "../../src/git/window-branch.ts";

/** A folder that becomes a repository when a branch is prepared. */
function folder() {
  const shown: string[] = [];
  const problems: unknown[] = [];
  let branch: string | undefined;
  let watchers = 0;
  const mode: WindowBranchOptions["mode"] = {
    currentBranch: async () => branch,
    prepare: async (task) => {
      branch = `ai-agent/${task}`;
      return { type: "branch", name: branch, how: "created" };
    },
    watchBranch: async (listener) => {
      if (branch === "ai-agent/broken") throw new Error("git is gone");
      if (branch === undefined) return undefined;
      watchers++;
      listener(branch);
      return { [Symbol.dispose]: () => void watchers-- };
    },
  };
  const options = {
    mode,
    show: (name: string) => shown.push(name),
    onProblem: (error: unknown) => problems.push(error),
  };
  return { branch: new WindowBranch(options), shown, problems, watchers: () => watchers };
}

it("shows the branch also where preparing it made the repository", async () => {
  const { branch, shown, watchers } = folder();
  await branch.watch();
  expect(shown).toEqual([]);
  expect(await branch.prepare("blue")).toMatchObject({ type: "branch", name: "ai-agent/blue" });
  await expect.poll(() => shown).toEqual(["ai-agent/blue"]);
  await branch.prepare("green");
  await expect.poll(() => shown).toEqual(["ai-agent/blue", "ai-agent/green"]);
  expect(watchers()).toBe(1);
  branch[Symbol.dispose]();
  expect(watchers()).toBe(0);
});

it("says what stands against looking, and goes on", async () => {
  const { branch, shown, problems } = folder();
  expect(await branch.prepare("broken")).toMatchObject({ type: "branch" });
  await expect.poll(() => problems).toEqual([new Error("git is gone")]);
  expect(shown).toEqual([]);
});
