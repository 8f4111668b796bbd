import { expect, test } from "vitest";
import type { Decision } from "#gate-journal";
import { rulesStatusText } from "#rules/rules-status";
import { violationOf, violationWords } from "#rules/violation";

function decision(change: Partial<Decision>): Decision {
  const call = { id: "c1", name: "Bash", argumentsJson: "{}" };
  return {
    call,
    verdict: "deny",
    risk: "high",
    rule: "rules/user/1",
    reason: "r",
    effects: [],
    input: '{"command":"git reset --hard"}',
    ...change,
  };
}

const yes = { answer: "yes", by: "dev", scope: "once" } as const;
const rows: readonly (readonly [name: string, change: Partial<Decision>, action: string | undefined])[] = [
  ["denied by a rule", {}, "blocked"],
  ["denied by the floor", { rule: "floor/git-loss" }, "blocked"],
  ["denied by another policy", { rule: "containment/outside-workspace" }, undefined],
  ["a plain allow", { verdict: "allow", rule: "" }, undefined],
  ["asked, not answered yet", { verdict: "ask" }, "asked"],
  ["asked, yes", { verdict: "ask", confirmation: yes }, "confirmed"],
  ["asked, no", { verdict: "deny", confirmation: { answer: "no", by: "dev" } }, "refused"],
  ["asked, nobody answered", { verdict: "deny", confirmation: { answer: "timeout", by: "" } }, "asked"],
  ["refused after a yes", { verdict: "deny", confirmation: yes }, "blocked"],
];

test.each(rows)("seed 004 §5: what a record says was done: %s", (_, change, action) => {
  expect(violationOf(decision(change))?.action).toBe(action);
});

test("a record says why, and where the rule stands if it stands in a file", () => {
  expect(violationOf(decision({ place: ".gennai/rules.yaml:3" }))).toMatchObject({
    reason: "r",
    place: ".gennai/rules.yaml:3",
  });
  expect(violationOf(decision({ rule: "floor/git-loss" }))).not.toHaveProperty("place");
});

test.each([
  ["Bash", '{"command":"git reset --hard"}', "git reset --hard"],
  ["Write", '{"file_path":"dist/a.js"}', "Write dist/a.js"],
  ["Grep", "not json", "Grep"],
  ["Bash", JSON.stringify({ command: `a\n\u001b[2J${"b".repeat(100)}` }), `a [2J${"b".repeat(74)}…`],
])("words of %s %s", (tool, input, words) => {
  expect(violationWords({ tool, input })).toBe(words);
});

test("seed 004 §4 status: how many rules, and the last violation", () => {
  const status = { count: 142, readOnly: undefined, errors: 0, recentViolation: "" };
  expect(rulesStatusText(status)).toBe("🛡️ Damage-Control Active: 142 Rules");
  expect(rulesStatusText({ ...status, recentViolation: "git reset --hard" })).toBe(
    "⚠️ Last Violation: git reset --hard",
  );
  expect(rulesStatusText({ ...status, errors: 1 })).toBe("🛡️ Damage-Control Active: 142 Rules (1 error in rule files)");
  expect(rulesStatusText({ ...status, readOnly: "r.yaml:1: bad" })).toContain("everything is read-only");
});
