import { createCommandsPolicy } from "@gennai/governance/policies/commands";
import { describe, expect, it } from "vitest";
import { decide, exec, inside, summary } from "./effects.ts";

const policy = createCommandsPolicy();

describe("commands", () => {
  it.each([
    ["git status", "allow"],
    ["npm test", "ask command_needs_confirmation"],
    ["sudo ls", "ask command_needs_confirmation"],
    ["$X", "ask command_not_resolved"],
    ["rm -rf /", "deny dangerous_command"],
    ["sudo rm -rf / && $X", "deny dangerous_command"],
  ])("%s: %s", async (command, expected) => {
    expect(summary(await decide(policy, exec(command)))).toBe(expected);
  });

  it("names the strictest danger", async () => {
    expect(await decide(policy, exec("npm publish; git reset --hard"))).toMatchObject({
      type: "deny",
      finding: { rule: "floor/git-loss", reason: expect.stringContaining("Security Policy Violation: ") },
    });
  });

  it("says nothing of calls without commands", async () => {
    expect(await decide(policy, { type: "read", path: inside("a") })).toEqual({ type: "allow" });
  });
});
