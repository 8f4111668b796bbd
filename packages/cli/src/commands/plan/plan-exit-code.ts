import type { Plan, PlanStep } from "@gennai/protocol/model/governance/plan";
import { type ExitCode, exitCode } from "../../terminal/exit-code.ts";

/** The exit code for a run that ended: only a complete run is a success, and a refusal has a code of its own. */
export function executionCode(plan: Plan): ExitCode {
  if (plan.executed && !["failed", "partial", "interrupted"].includes(plan.state)) return exitCode.ok;
  return plan.steps.some(isRefused) ? exitCode.refused : exitCode.failed;
}

function isRefused({ failureClass }: PlanStep): boolean {
  return failureClass === "permission_denied";
}
