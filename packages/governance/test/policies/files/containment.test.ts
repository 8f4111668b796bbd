import { describe, expect, it } from "vitest";
import { createContainmentPolicy } from "#policies/files/containment";
import { decide, exec, inside, outside, summary, write } from "../effects.ts";

const policy = createContainmentPolicy({ root: "/ws" });

describe("seed 003 §12 scope: containment", () => {
  it("refuses every tool's path outside the workspace, and names it as it was written", async () => {
    for (const path of [outside("/ws-evil/x"), outside("/etc/passwd", "../etc/passwd")]) {
      for (const effect of [
        { type: "read", path },
        { type: "list", path },
        { type: "search", path },
        write(path),
      ] as const) {
        expect(await decide(policy, { type: "read", path: inside("a") }, effect)).toMatchObject({
          type: "deny",
          finding: {
            code: "outside_workspace",
            reason: `Security Policy Violation: ${path.raw} is outside the workspace.`,
          },
        });
      }
    }
  });

  it.each([
    ["cat src/a.ts", "allow"],
    ["ls /usr/lib", "allow"],
    ["cat /etc/os-release", "allow"],
    ["cat /tmp/dev.log", "allow"],
    ["ls > /dev/null", "allow"],
    ["cat /etc/passwd", "ask outside_workspace"],
    ["ls ..", "ask outside_workspace"],
    ["cat /ws-evil/x", "ask outside_workspace"],
    ["ls ~", "ask outside_workspace"],
    ["some-tool /etc/x", "ask outside_workspace"],
    ["mkdir -p /tmp/x", "ask outside_workspace"],
    ["ls > /tmp/list", "ask outside_workspace"],
    ["cp a ../b", "deny outside_workspace"],
    ["ls > ~/.bashrc", "deny outside_workspace"],
    ["mv ~/a b", "deny outside_workspace"],
    ["touch /ws-evil/x", "deny outside_workspace"],
    ["cd .. && touch x", "deny outside_workspace"],
  ])("%s: %s", async (command, expected) => {
    expect(summary(await decide(policy, exec(command)))).toBe(expected);
  });

  it.each([
    ["cat link/diary.txt", "ask outside_workspace"],
    ["ls link", "ask outside_workspace"],
    ["touch link/x", "deny outside_workspace"],
    ["cat /ws/src/a.ts", "allow"],
  ])("knows where a link leads: %s: %s", async (command, expected) => {
    const realPath = (path: string): string => path.replace("/ws/link", "/home/user");
    const linked = createContainmentPolicy({ root: "/ws", realPath });
    expect(summary(await decide(linked, exec(command)))).toBe(expected);
  });

  it("refuses a command that would start outside", async () => {
    const effect = { ...exec("ls"), cwd: outside("/etc") };
    expect(summary(await decide(policy, effect))).toBe("deny outside_workspace");
  });
});
