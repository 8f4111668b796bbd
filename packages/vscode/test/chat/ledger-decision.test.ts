import { expect, test } from "vitest";
import { decisionsIn } from "../../src/chat/ledger-decision.ts";

test("the calls that were denied or asked about, with the rule and the answer", () => {
  const calls = [
    { tool: "Read", verdict: "allow", rule: "" },
    { tool: "Bash", input: { command: "git push --force" }, verdict: "deny", rule: "floor.push", risk: "medium" },
    { tool: "Bash", input: "npm i", verdict: "ask", rule: "network", confirmation: { answer: "no", by: "user" } },
  ];
  const json = JSON.stringify({ timestamp: "2026-11-23T10:00:00Z", metadata: { seq: 4, calls } });
  const shared = { seq: 4, time: "2026-11-23T10:00:00Z", tool: "Bash" };
  expect(decisionsIn(json)).toEqual([
    {
      ...shared,
      input: '{"command":"git push --force"}',
      verdict: "deny",
      rule: "floor.push",
      risk: "medium",
      answer: "",
    },
    { ...shared, input: "npm i", verdict: "ask", rule: "network", risk: "", answer: "no by user" },
  ]);
});

test.each(["", "no json", "[]", "{}", '{"metadata":{"calls":1}}'])("%j has none", (json) => {
  expect(decisionsIn(json)).toEqual([]);
});
