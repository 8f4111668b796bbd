import { describe, expect, it } from "vitest";
import type { Effect } from "#effect";
import { ignoredPaths } from "#intents/ignored-paths";
import type { Intent } from "#intents/intent";
import { createIntentsPolicy, type IntentRules } from "#intents/intents-policy";
import { createScopeExpansionPolicy } from "#intents/scope-expansion-policy";
import { decide, exec, inputWith, inside, outside, summary, write } from "../policies/effects.ts";

const intent: Intent = {
  id: "INT-001",
  name: "Login",
  status: "active",
  selectable: true,
  ownedScope: ["src/**", "docs/**", "!src/secret/**"],
  constraints: [],
  acceptanceCriteria: [],
};

function policy(rules: Partial<IntentRules> = {}) {
  const ignored = ignoredPaths("dist/\nsrc/gen/\n");
  const all = {
    on: true,
    active: intent,
    selectable: [intent],
    ignored: (path: string) => ignored.has(path),
    ...rules,
  };
  return createIntentsPolicy({ root: "/ws", rules: () => all });
}

const read: Effect = { type: "read", path: inside("README.md") };
const propose = (path: string): Effect => ({ type: "propose", path: inside(path), operation: "update" });

describe("intents", () => {
  it.each<[string, Effect]>([
    ["a write", write(inside("src/a.ts"))],
    ["a proposal", propose("src/a.ts")],
    ["a command", exec("npm test")],
    ["the network", { type: "net", url: "https://example.org" }],
  ])(
    'seed 001 cite: if no valid intent_id is supplied, block and return "You must cite a valid active Intent ID.": %s',
    async (_name, effect) => {
      expect(await decide(policy({ active: undefined }), effect)).toEqual({
        type: "deny",
        finding: {
          code: "intent_required",
          rule: "intents/required",
          reason: "You must cite a valid active Intent ID.",
          hint: "Call select_active_intent first, with one of: INT-001.",
          retryable: true,
        },
      });
    },
  );

  it("takes a tool that says nothing of its effects at its worst", async () => {
    expect(summary(await decide(policy({ active: undefined })))).toBe("deny intent_required");
  });

  it.each<[string, Effect]>([
    ["a read", read],
    ["a listing", { type: "list", path: inside("") }],
    ["a reading command", exec("ls -la src")],
    ["the session's own state", { type: "session" }],
  ])("seed 001 fail-safe: non-blocking reads continue: %s", async (_name, effect) => {
    expect(summary(await decide(policy({ active: undefined }), effect))).toBe("allow");
  });

  it("says so when there is nothing to cite", async () => {
    const verdict = await decide(policy({ active: undefined, selectable: [] }), write(inside("a")));
    expect(verdict).toMatchObject({ finding: { hint: expect.stringContaining("Ask the user") } });
  });

  it('seed 001 scope: if file not in scope, block and return: "Scope Violation: <intent_id> is not authorized to edit [filename]."', async () => {
    expect(await decide(policy(), write(inside("package.json")))).toMatchObject({
      type: "deny",
      finding: {
        code: "scope_violation",
        reason: "Scope Violation: INT-001 is not authorized to edit package.json. Request scope expansion.",
      },
    });
  });

  it.each<[string, Effect, string]>([
    ["inside", write(inside("src/a.ts")), "allow"],
    ["deleting inside", write(inside("docs/a.md"), { operation: "delete" }), "allow"],
    ["outside", write(inside("package.json")), "deny scope_violation"],
    ["proposed outside", propose("package.json"), "deny scope_violation"],
    ["excluded", write(inside("src/secret/x")), "deny scope_violation"],
    ["a link's name inside, its file outside", write(inside("lib/a.ts", "src/a.ts")), "deny scope_violation"],
    ["ignored though owned", write(inside("src/gen/a.ts")), "deny intent_ignored"],
    ["ignored and not owned", write(inside("dist/a.js")), "deny intent_ignored"],
    ["beyond the workspace: others' matter", write(outside("/etc/passwd")), "allow"],
    ["a command that writes inside", exec("touch src/a.ts"), "allow"],
    ["a command that writes outside", exec("echo x > package.json"), "deny scope_violation"],
    ["a command that deletes outside", exec("rm lib/a.ts"), "deny scope_violation"],
    ["a command that moves out", exec("mv src/a.ts lib/a.ts"), "deny scope_violation"],
    ["a command that deletes what is excluded", exec("rm src/secret/key"), "deny scope_violation"],
    ["a command that deletes around an exclusion", exec("rm -r src"), "ask scope_uncertain"],
    ["a glob outside", exec("rm lib/*.ts"), "deny scope_violation"],
    ["a glob inside", exec("rm docs/*.md"), "allow"],
    ["a command that writes what is ignored", exec("touch dist/a.js"), "deny intent_ignored"],
    ["a command whose writes are not known", exec("npm test"), "ask scope_uncertain"],
    ["one that both writes inside and does more", exec("touch src/a.ts && npm run build"), "ask scope_uncertain"],
  ])("decides by the scope: %s", async (_name, effect, wanted) => {
    expect(summary(await decide(policy(), effect))).toBe(wanted);
  });

  it("an empty scope owns nothing", async () => {
    expect(summary(await decide(policy({ active: { ...intent, ownedScope: [] } }), write(inside("src/a.ts"))))).toBe(
      "deny scope_violation",
    );
  });

  it("with intents off, only .intentignore holds", async () => {
    const off = policy({ on: false, active: undefined });
    expect(summary(await decide(off, write(inside("anything"))))).toBe("allow");
    expect(summary(await decide(off, exec("npm test")))).toBe("allow");
    expect(summary(await decide(off, write(inside("dist/a.js"))))).toBe("deny intent_ignored");
  });

  it("seed 001 expansion: scope expansion asks a person, whatever the scope", async () => {
    const input = inputWith({
      toolName: "request_scope_expansion",
      analysis: { statement: "Extend INT-001 by lib/**.", effects: [{ type: "session" }] },
    });
    const options = { signal: new AbortController().signal };
    expect(await createScopeExpansionPolicy().decide(input, options)).toMatchObject({
      type: "ask",
      finding: { reason: expect.stringContaining("Extend INT-001 by lib/**.") },
    });
    expect(await createScopeExpansionPolicy().decide({ ...input, toolName: "Read" }, options)).toEqual({
      type: "allow",
    });
  });
});
