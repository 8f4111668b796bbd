import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { PlanChange } from "@gennai/governance/plan-change";
import type { SessionState } from "../state/session-state.ts";
import { remediationOf } from "./remediation.ts";

/** Events that end a turn's plans when its process is gone: their runs are over, and the state of the last step is unknown. */
export function interruptedPlans(state: SessionState, turnId: string): readonly SessionEvent[] {
  const events: SessionEvent[] = [];
  for (const plan of state.plans.values()) {
    const changed = (change: PlanChange) => void events.push({ type: "plan-changed", planId: plan.planId, change });
    if (plan.state === "executing" && plan.runTurnId === turnId) {
      for (const step of plan.steps) {
        if (step.state !== "running") continue;
        const evidence = "The server went away during this step. Whether it took effect is not known.";
        changed({ type: "step", stepId: step.stepId, state: "failed", failureClass: "partial_execution", evidence });
      }
      const remediation = remediationOf("interrupted", state, turnId);
      changed({ type: "run-ended", state: "interrupted", claimed: false, executed: false, remediation });
    }
    if (plan.state === "verifying" && plan.verifyTurnId === turnId) {
      const remediation = "The server went away during the verification. Nothing is proven; look at the workspace.";
      changed({ type: "verification-ended", state: "interrupted", results: [], remediation });
    }
  }
  return events;
}
