import { describe, expect, it } from "vitest";
import { createCommandsPolicy } from "#policies/commands/commands";
import { createHighRiskPolicy } from "#policies/high-risk";
import { decide, exec, inside, summary } from "../effects.ts";

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

describe("commands that only read, without a sandbox", () => {
  const surroundings = { sandboxed: false, mode: "branch", root: "/ws", onOwnBranch: () => true } as const;
  const looked = { ...surroundings, reachesSecret };
  function reachesSecret(path: string, isPattern: boolean): boolean {
    return isPattern ? path.startsWith("/ws/deep/") : path === "/ws/deep" || path === "/ws/link";
  }

  it.each([
    ["cat a.ts", "allow"],
    ["cat link", "ask"],
    ["ls deep", "allow"],
    ["grep -n x a.ts", "allow"],
    ["grep -rn x src", "allow"],
    ["grep -rn x deep", "ask"],
    ["rg x src deep", "ask"],
    ["diff deep src", "ask"],
    ["cat src/*", "allow"],
    ["cat deep/*", "ask"],
    ["ls deep/*", "allow"],
  ])("%s: %s, where files behind links and below directories are looked for", async (command, expected) => {
    expect((await decide(createCommandsPolicy({ surroundings: looked }), exec(command))).type).toBe(expected);
  });

  it.each([
    ["cat a.ts", "allow"],
    ["grep -n x a.ts", "allow"],
    ["grep -rn x src", "ask"],
    ["grep -nr x src", "ask"],
    ["rg x src", "ask"],
    ["diff a b", "ask"],
    ["cat src/*", "ask"],
    ["ls src/*", "allow"],
  ])("%s: %s, where nobody can look", async (command, expected) => {
    expect((await decide(createCommandsPolicy({ surroundings }), exec(command))).type).toBe(expected);
  });
});

describe("commands in a sandbox", () => {
  const boxed = { sandboxed: true, mode: "branch", root: "/ws", onOwnBranch: () => true } as const;

  it.each([
    ["npm test", "allow"],
    ["npm test -- --run src/a.test.ts", "allow"],
    ["cd packages/core && npm test 2>&1 | tail -20", "allow"],
    ["time make test", "allow"],
    ["timeout 60 npm test", "allow"],
    ["nice npm test", "allow"],
    ["nice -n 19 timeout -k 5 60 npm test", "allow"],
    ["command npm test", "allow"],
    ["stdbuf -oL npm test | tail -20", "allow"],
    ["timeout 60 npm run deploy", "ask"],
    ["timeout $X npm test", "ask"],
    ["timeout 60 sh -c 'npm test'", "ask"],
    ["/usr/bin/time -o README.md npm test", "ask"],
    ["nohup npm test", "ask"],
    ["git add -A && git commit -m 'Add a'", "allow"],
    ["npx tsc --noEmit", "ask"],
    ["tsc -b && eslint src", "allow"],
    ["cargo build --release", "allow"],
    ["go test ./...", "allow"],
    ["pytest -q", "allow"],
    ["node scripts/gen.mjs", "allow"],
    // Whatever installs, reaches out, carries its own code, or is not known.
    ["npm install left-pad", "ask"],
    ["npm ci", "ask"],
    ["npx vitest", "ask"],
    ["npm run deploy", "ask"],
    ["npm test --prefix /tmp/x", "ask"],
    ["npm test -- --require ./evil.js", "ask"],
    ["pip install x", "ask"],
    ["cargo add x", "ask"],
    ["curl http://127.0.0.1:7777", "ask"],
    ["git fetch", "ask"],
    ["git push", "ask"],
    ["git commit --no-verify -m x", "ask"],
    ["git checkout main", "ask"],
    ["git -c user.name=x commit -m y", "ask"],
    ["node -e 'x()'", "ask"],
    ["python3 -c 'x()'", "ask"],
    ["node /tmp/x.js", "ask"],
    ["./run.sh", "ask"],
    ["sudo npm test", "ask"],
    ["echo x > README.md", "ask"],
    ["npm test > /tmp/out", "ask"],
    ["rm src/a.ts", "ask"],
    ["npm test; $X", "ask"],
    ["npm test && npm publish", "ask"],
    ["find . -name a -exec npm test \\;", "ask"],
    ["make deploy", "ask"],
    ["rm -rf /", "deny"],
  ])("%s: %s", async (command, expected) => {
    expect((await decide(createCommandsPolicy({ surroundings: boxed }), exec(command))).type).toBe(expected);
  });

  it.each([
    ["without a sandbox", { ...boxed, sandboxed: false }],
    ["in proposal mode", { ...boxed, mode: "proposal" as const }],
    ["away from the session's branch", { ...boxed, onOwnBranch: () => false }],
    ["in another workspace's words", { ...boxed, root: "/other" }],
  ])("asks %s", async (name, surroundings) => {
    const command = name.includes("workspace") ? "eslint /ws/src" : "npm test";
    expect((await decide(createCommandsPolicy({ surroundings }), exec(command))).type).toBe("ask");
  });

  it("asks in the user's own terminal, which no sandbox holds", async () => {
    const effect = exec("npm test");
    const typed = effect.type === "exec" ? { ...effect, where: "client" as const } : effect;
    expect((await decide(createCommandsPolicy({ surroundings: boxed }), typed)).type).toBe("ask");
  });
});

describe("seed 003 §2.2: high risk", () => {
  it("asks for what the server runs, refuses what would be typed into a terminal", async () => {
    const effect = exec("sudo ls");
    expect(summary(await decide(createHighRiskPolicy(), effect))).toBe("ask high_risk");
    const typed = effect.type === "exec" ? { ...effect, where: "client" as const } : effect;
    expect(summary(await decide(createHighRiskPolicy(), typed))).toBe("deny high_risk_terminal");
    const harmless = exec("npm test");
    const typedTest = harmless.type === "exec" ? { ...harmless, where: "client" as const } : harmless;
    expect(summary(await decide(createHighRiskPolicy(), typedTest))).toBe("allow");
  });
});
