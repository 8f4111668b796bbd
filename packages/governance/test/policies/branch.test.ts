import { describe, expect, it } from "vitest";
import { type BranchState, createBranchPolicy, isProtectedBranch } from "#policies/branch";
import { decide, exec, inside, summary, write } from "./effects.ts";

const on = (branch: string, more: Partial<Extract<BranchState, { type: "branch" }>> = {}): BranchState => ({
  type: "branch",
  branch,
  sessionBranch: "ai-agent/x",
  protectedBy: undefined,
  ...more,
});

const offer = { name: "ai-agent/y", asks: true, makesRepository: false, isDeclined: false };
const protectedBy = (branch: string) => isProtectedBranch(branch);

describe("branch", () => {
  it.each<[BranchState, string, string]>([
    [on("ai-agent/x"), "allow", "allow"],
    [on("feature", { sessionBranch: undefined }), "allow", "allow"],
    [on("main", { protectedBy: "main" }), "deny protected_branch", "deny protected_branch"],
    [on("other"), "deny branch_moved", "deny branch_moved"],
    [{ type: "detached" }, "deny detached_head", "allow"],
    [{ type: "none" }, "deny no_repository", "allow"],
  ])("in branch mode, with HEAD at %o: files %s, commands %s", async (state, expected, expectedOfCommand) => {
    const policy = createBranchPolicy({ mode: "branch", readBranch: async () => state, protectedBy });
    expect(summary(await decide(policy, write(inside("a"))))).toBe(expected);
    expect(summary(await decide(policy, { type: "read", path: inside("a") }, exec("git status")))).toBe("allow");
    expect(summary(await decide(policy, exec("npm install left-pad")))).toBe(expectedOfCommand);
  });

  it.each([
    ["ls -l && git log --oneline", "allow"],
    ["touch a", "deny protected_branch"],
    ["echo x > a", "deny protected_branch"],
    ["npm test", "deny protected_branch"],
    ["git commit --all --message x", "deny protected_branch"],
    ["$(cat x)", "deny protected_branch"],
    ["git switch --create work", "allow"],
    ["git switch -q -c work", "allow"],
    ["git checkout -b work", "allow"],
    ["git switch work", "allow"],
    ["git checkout work", "deny protected_branch"],
    ["git switch --discard-changes work", "deny protected_branch"],
    ["git switch --create work; touch a", "deny protected_branch"],
    ["git switch $X", "deny protected_branch"],
    ["env GIT_DIR=x git switch work", "deny protected_branch"],
  ])("on a protected branch, the command %s: %s", async (command, expected) => {
    const readBranch = async () => on("main", { protectedBy: "main", sessionBranch: undefined });
    const policy = createBranchPolicy({ mode: "branch", readBranch, protectedBy });
    expect(summary(await decide(policy, exec(command)))).toBe(expected);
  });

  it.each([
    [{ ...offer, asks: false }, "allow"],
    [offer, "ask protected_branch"],
    [{ ...offer, isDeclined: true }, "deny protected_branch"],
  ])("where a branch can begin (%o): %s", async (offer, expected) => {
    let state: BranchState = on("main", { protectedBy: "main" });
    const policy = createBranchPolicy({ mode: "branch", readBranch: async () => state, protectedBy, offer });
    for (const effect of [
      write(inside("a")),
      exec("npm test"),
      { ...exec("git commit -m x"), staged: true as const },
    ]) {
      expect(summary(await decide(policy, effect))).toBe(expected);
    }
    for (const effect of [exec("git log"), { ...exec("npm test"), staged: true as const }]) {
      expect(summary(await decide(policy, effect))).toBe("allow");
    }
    state = { type: "detached" };
    expect(summary(await decide(policy, write(inside("a"))))).toBe(expected);
    state = { type: "none" };
    expect(summary(await decide(policy, write(inside("a"))))).toBe("deny no_repository");
    state = on("ai-agent/x");
    expect(summary(await decide(policy, write(inside("a"))))).toBe("allow");
  });

  it.each([
    ["git switch main && touch a", "deny protected_branch"],
    ["git checkout release/1; rm a", "deny protected_branch"],
    ["cd . && (git switch --quiet main; npm install)", "deny protected_branch"],
    ["git switch main", "allow"],
    ["git checkout main -- a && touch a", "allow"],
    ["git switch other && touch a", "allow"],
  ])("on the session's own branch, the command %s: %s", async (command, expected) => {
    const policy = createBranchPolicy({ mode: "branch", readBranch: async () => on("ai-agent/x"), protectedBy });
    expect(summary(await decide(policy, exec(command)))).toBe(expected);
  });

  it.each([
    [write(inside("a")), "ask protected_branch"],
    [exec("npm test"), "allow"],
    [{ ...exec("npm test"), staged: true as const }, "allow"],
  ])("where a yes makes a repository (%o): %s", async (effect, expected) => {
    const options = { mode: "branch", readBranch: async () => ({ type: "none" as const }), protectedBy } as const;
    const policy = createBranchPolicy({ ...options, offer: { ...offer, makesRepository: true } });
    expect(summary(await decide(policy, effect))).toBe(expected);
  });

  it("lets calls change what stays apart from the workspace, and judges what is found there", async () => {
    const readBranch = async () => on("main", { protectedBy: "main" });
    const policy = createBranchPolicy({ mode: "branch", readBranch, protectedBy, offer, isApart: () => true });
    const found = { agreed: true, tracked: true, ignored: false, traits: [] };
    const head = { type: "git", what: "head", name: "HEAD", from: undefined, to: "ref: refs/heads/main" } as const;
    expect(summary(await decide(policy, write(inside("a"))))).toBe("allow");
    const commit = { ...exec("git commit -m x"), staged: true as const };
    expect(summary(await decide(policy, commit))).toBe("allow");
    expect(summary(await decide(policy, exec("npm test")))).toBe("ask protected_branch");
    expect(summary(await decide(policy, write(inside("a"), { found })))).toBe("ask protected_branch");
    expect(summary(await decide(policy, write(inside("a"), { found }), { ...head, agreed: true }))).toBe(
      "deny protected_branch",
    );
  });

  it("fails closed when the branch cannot be read", async () => {
    const policy = createBranchPolicy({
      mode: "branch",
      readBranch: () => Promise.reject(new Error("no git")),
      protectedBy,
    });
    await expect(decide(policy, write(inside("a")))).rejects.toThrow("no git");
  });

  it("changes and runs nothing in proposal mode", async () => {
    const policy = createBranchPolicy({ mode: "proposal", readBranch: async () => on("ai-agent/x"), protectedBy });
    expect(summary(await decide(policy, write(inside("a"))))).toBe("deny proposal_mode");
    expect(summary(await decide(policy, exec("npm test")))).toBe("deny proposal_mode");
    expect(summary(await decide(policy, exec("git status")))).toBe("allow");
    expect(summary(await decide(policy, { type: "propose", path: inside("a"), operation: "update" }))).toBe("allow");
  });

  it.each([
    ["main", "main"],
    ["Main", "main"],
    ["refs/heads/master", "master"],
    ["release/1.2", "release/*"],
    ["release/1/2", "release/**"],
    ["trunk", "default branch of the remote"],
    ["deploy-eu", "deploy-*"],
    ["feature/main", undefined],
    ["mainline", undefined],
  ])("%s is protected by %s", (branch, expected) => {
    expect(isProtectedBranch(branch, { extra: ["deploy-*"], remoteDefault: "origin/trunk" })).toBe(expected);
  });
});
