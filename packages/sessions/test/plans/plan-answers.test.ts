import type { Question } from "@gennai/governance/confirmation";
import { canonicalJson } from "@gennai/protocol/canonical-json";
import { describe, expect, test } from "vitest";
import { type ApprovedCall, PlanAnswers } from "#plans/plan-answers";
import { gateQuestion } from "../../../governance/test/gate/gate-question.ts";

const approved: ApprovedCall = {
  callId: "c",
  tool: "Bash",
  args: { command: "sh x.sh" },
  seen: { paths: ["/w/x.sh"], operands: { "x.sh": "1" } },
  changed: new Set(),
};

function question(
  change: Partial<Question> & {
    readonly action?: Readonly<Record<string, unknown>>;
    readonly risk?: "low" | "medium" | "high";
  },
): Question {
  const { action, risk = "medium", ...rest } = change;
  const whole = {
    tool: "Bash",
    arguments: { command: "sh x.sh" },
    paths: ["/w/x.sh"],
    operands: { "x.sh": "1" },
    ...action,
  };
  return gateQuestion({
    title: "",
    computed: { risk, paths: ["/w/x.sh"], rule: "", reason: "", policySha256: "" },
    actionJson: canonicalJson(whole),
    ...rest,
  });
}

function answers(call: ApprovedCall | undefined, commandsAskAgain = false): PlanAnswers {
  const made = new PlanAnswers({ by: "ann", commandsAskAgain });
  if (call !== undefined) made.expect(call);
  return made;
}

describe("an approval answers", () => {
  test.each<[string, ApprovedCall, Question]>([
    ["exactly its action", approved, question({})],
    [
      "an operand that the run itself wrote",
      { ...approved, changed: new Set(["x.sh"]) },
      question({ action: { operands: { "x.sh": "2" } } }),
    ],
    [
      "operands after a command of the run",
      { ...approved, changed: "anything" },
      question({ action: { operands: {} } }),
    ],
    [
      "a verification command by its text",
      { ...approved, seen: undefined },
      question({ action: { operands: { y: "9" } } }),
    ],
  ])("%s", (_name, call, asked) => {
    expect(answers(call).find(asked)).toEqual({ type: "yes", scope: "once", by: "ann" });
  });

  test.each<[string, Question]>([
    ["high risk", question({ risk: "high" })],
    ["another call", question({ callId: "d" })],
    ["another tool", question({ toolName: "Write" })],
    ["another command", question({ action: { arguments: { command: "sh y.sh" } } })],
    ["another place", question({ action: { paths: ["/etc/x.sh"] } })],
    ["a script that was rewritten", question({ action: { operands: { "x.sh": "2" } } })],
    ["a script that came to be", question({ action: { operands: { "x.sh": "1", "y.sh": "1" } } })],
  ])("not %s", (_name, asked) => {
    expect(answers(approved).find(asked)).toBe(undefined);
  });

  test("no command on a machine without a sandbox, where it came without a credential", () => {
    expect(answers(approved, true).find(question({}))).toBe(undefined);
    expect(answers(undefined).find(question({}))).toBe(undefined);
  });
});

test("an approval of a command answers no question about what the command has done", () => {
  const asked = question({ action: { done: true, operands: { changes: "digest" } } });
  for (const call of [approved, { ...approved, seen: undefined }, { ...approved, changed: "anything" } as const]) {
    expect(answers(call).find(asked)).toBeUndefined();
  }
});
