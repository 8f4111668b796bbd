import type { Risk } from "@gennai/protocol/model/governance/risk";
import type { ParsedPlan } from "@gennai/protocol/plan-schema";
import { describe, expect, test } from "vitest";
import { contractIssues, stepContracts } from "#step-contract";

const run = { type: "command", command: "npm test" } as const;
const head = { id: "p", title: "t", summary: "s" };
const seed: ParsedPlan = {
  form: "seed",
  plan: {
    ...head,
    risks: [],
    steps: [
      {
        id: "a",
        title: "A",
        intent: "i",
        actions: [run, { type: "file_write", path: "x", content: "" }],
        verify: [run, run],
      },
      { id: "b", title: "B", intent: "i", actions: [run], verify: [] },
      { id: "c", title: "C", intent: "i", actions: [run], verify: [], depends_on: [] },
    ],
  },
};

function contract(change: {
  readonly risk_level?: Risk;
  readonly requires_confirmation?: boolean;
  readonly tool?: string;
}): ParsedPlan {
  const step = {
    id: "a",
    actions: [run],
    verification_plan: [run],
    description: "Runs the tests",
    risk_level: "medium" as Risk,
    requires_confirmation: true,
    tool: "Bash",
    ...change,
  };
  return { form: "contract", plan: { ...head, steps: [step] } };
}

describe("the step contract of seed 003", () => {
  test("steps of seed 000 are lifted to it", () => {
    const risks = new Map<string, Risk>([
      ["a", "medium"],
      ["b", "low"],
    ]);
    expect(stepContracts(seed, risks)).toMatchObject([
      {
        description: "A",
        tool: "Bash, Write",
        risk: "medium",
        requiresConfirmation: true,
        verificationPlan: ["npm test"],
        dependsOn: [],
      },
      {
        description: "B",
        tool: "Bash",
        risk: "low",
        requiresConfirmation: false,
        verificationPlan: [],
        dependsOn: ["a"],
      },
      // Nobody looked at it.
      { risk: "high", requiresConfirmation: true, dependsOn: [] },
    ]);
    expect(contractIssues(seed, risks)).toEqual([]);
  });

  test("a declared risk can raise the computed one", () => {
    const plan = contract({ risk_level: "high" });
    const risks = new Map<string, Risk>([["a", "low"]]);
    expect(contractIssues(plan, risks)).toEqual([]);
    expect(stepContracts(plan, risks)).toMatchObject([{ risk: "high", requiresConfirmation: true }]);
  });

  test.each([
    ["a risk below the computed one", contract({ risk_level: "low" }), "high", "steps[0].risk_level", "say high"],
    [
      "reject high-impact step with no confirmation",
      contract({ risk_level: "high", requires_confirmation: false }),
      "high",
      "steps[0].requires_confirmation",
      "requires_confirmation: true",
    ],
    [
      "a step that declares itself high, without confirmation, whatever was computed",
      contract({ risk_level: "high", requires_confirmation: false }),
      "low",
      "steps[0].requires_confirmation",
      "a step of high risk needs requires_confirmation: true",
    ],
    ["deny non-registry tool", contract({ tool: "Deploy" }), "medium", "steps[0].tool", "name Bash"],
    ["a tool that does not do this action", contract({ tool: "Write" }), "medium", "steps[0].tool", "name Bash"],
  ] as const)("seed 003: %s", (_name, plan, computed, path, mend) => {
    const issues = contractIssues(plan, new Map([["a", computed]]));
    expect(issues).toEqual([{ path, level: "contract", message: expect.stringContaining(mend) }]);
    expect(issues[0]?.message).toContain('Step "a"');
  });
});
