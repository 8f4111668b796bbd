import { type BranchState, createBranchPolicy, isProtectedBranch } from "@gennai/governance/policies/branch";
import { describe, expect, it } from "vitest";
import { decide, exec, inside, summary, write } from "./effects.ts";

const on = (branch: string, more: Partial<Extract<BranchState, { type: "branch" }>> = {}): BranchState => ({
  type: "branch",
  branch,
  sessionBranch: "ai-agent/x",
  protectedBy: undefined,
  ...more,
});

describe("branch", () => {
  it.each<[BranchState, string]>([
    [on("ai-agent/x"), "allow"],
    [on("feature", { sessionBranch: undefined }), "allow"],
    [on("main", { protectedBy: "main" }), "deny protected_branch"],
    [on("other"), "deny branch_moved"],
    [{ type: "detached" }, "deny detached_head"],
    [{ type: "none" }, "deny no_repository"],
  ])("in branch mode, with HEAD at %o: %s", async (state, expected) => {
    const policy = createBranchPolicy({ mode: "branch", readBranch: async () => state });
    expect(summary(await decide(policy, write(inside("a"))))).toBe(expected);
    expect(summary(await decide(policy, { type: "read", path: inside("a") }, exec("npm test")))).toBe("allow");
  });

  it("fails closed when the branch cannot be read", async () => {
    const policy = createBranchPolicy({ mode: "branch", readBranch: () => Promise.reject(new Error("no git")) });
    await expect(decide(policy, write(inside("a")))).rejects.toThrow("no git");
  });

  it("changes and runs nothing in proposal mode", async () => {
    const policy = createBranchPolicy({ mode: "proposal", readBranch: async () => on("ai-agent/x") });
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
