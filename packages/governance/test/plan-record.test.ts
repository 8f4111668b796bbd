import type { PlanState } from "@gennai/protocol/model/governance/plan";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PlanChange } from "#plan-change";
import { applyPlanChange, IllegalPlanChange, type PlanRecord } from "#plan-record";

const submitted: PlanChange = { type: "submitted", digest: "d", title: "t", steps: [{ stepId: "a", risk: "medium" }] };
const passed = { stepId: "a", command: "true", passed: true, exitCode: 0, output: "[exit code 0]" };
const runEnd = (state: "verifying" | "failed" | "partial" | "unverified" | "interrupted"): PlanChange => ({
  type: "run-ended",
  state,
  claimed: true,
  executed: true,
  remediation: "",
});
const verificationEnd = (state: "done" | "failed" | "interrupted", results = [passed]): PlanChange => ({
  type: "verification-ended",
  state,
  results,
  remediation: "",
});
const changes: readonly PlanChange[] = [
  submitted,
  { type: "previewed", steps: [{ stepId: "a", risk: "low" }] },
  { type: "offered" },
  { type: "approved", by: "ann", channel: "authenticated" },
  { type: "run-opened", runTurnId: "t", tokenSha256: "s" },
  { type: "step", stepId: "a", state: "executed", evidence: "" },
  runEnd("verifying"),
  runEnd("failed"),
  runEnd("partial"),
  runEnd("unverified"),
  runEnd("interrupted"),
  { type: "verification-opened", turnId: "v" },
  verificationEnd("done"),
  verificationEnd("failed"),
  verificationEnd("interrupted"),
];

const wayTo: Record<PlanState, readonly number[]> = {
  draft: [0],
  preview: [0, 1],
  awaiting_approval: [0, 1, 2],
  executing: [0, 1, 2, 4],
  verifying: [0, 1, 2, 4, 6],
  failed: [0, 1, 2, 4, 7],
  partial: [0, 1, 2, 4, 8],
  unverified: [0, 1, 2, 4, 9],
  interrupted: [0, 1, 2, 4, 10],
  done: [0, 1, 2, 4, 6, 12],
};

/** Every legal move; all others are illegal. */
const legal: Record<PlanState, readonly string[]> = {
  draft: ["previewed"],
  preview: ["previewed", "offered"],
  awaiting_approval: ["previewed", "approved", "run-opened"],
  executing: ["step", "run-ended"],
  verifying: ["verification-opened", "verification-ended"],
  done: [],
  failed: [],
  partial: [],
  unverified: [],
  interrupted: [],
};

function after(indexes: readonly number[]): PlanRecord | undefined {
  let plan: PlanRecord | undefined;
  for (const index of indexes) plan = applyPlanChange(plan, "p", changes[index] ?? submitted, 7);
  return plan;
}

describe("the state machine", () => {
  test.each(Object.keys(wayTo).filter((state): state is PlanState => state in wayTo))("from %s", (state) => {
    const plan = after(wayTo[state]);
    expect(plan?.state).toBe(state);
    for (const change of changes) {
      const attempt = () => applyPlanChange(plan, "p", change, 7);
      if (legal[state].includes(change.type)) expect(attempt).not.toThrow();
      else expect(attempt).toThrow(IllegalPlanChange);
    }
  });

  test("seed 000 lifecycle: nothing executes that did not await approval, in any order of changes", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(changes.length - 1), { maxLength: 30 }), (indexes) => {
        let plan: PlanRecord | undefined;
        for (const index of indexes) {
          const before = plan?.state;
          try {
            plan = applyPlanChange(plan, "p", changes[index] ?? submitted, 7);
          } catch (error) {
            expect(error).toBeInstanceOf(IllegalPlanChange);
          }
          if (plan?.state === "executing" && before !== "executing") expect(before).toBe("awaiting_approval");
          if (plan?.state === "done") expect(plan.verified && plan.results.length > 0).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("seed 003: no success claim without verification output", () => {
    const verifying = after(wayTo.verifying);
    expect(applyPlanChange(verifying, "p", verificationEnd("done", []), 7).verified).toBe(false);
    expect(applyPlanChange(verifying, "p", verificationEnd("failed"), 7).verified).toBe(false);
    expect(applyPlanChange(verifying, "p", verificationEnd("done"), 7).verified).toBe(true);
  });

  test("a later preview raises a risk and never lowers it", () => {
    const plan = applyPlanChange(after([0]), "p", { type: "previewed", steps: [{ stepId: "a", risk: "low" }] }, 7);
    expect(plan.steps[0]?.risk).toBe("medium");
    const raised = applyPlanChange(plan, "p", { type: "previewed", steps: [{ stepId: "a", risk: "high" }] }, 7);
    expect(raised.steps[0]?.risk).toBe("high");
  });
});
