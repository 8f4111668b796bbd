import type { Plan, PlanStep } from "@gennai/client/plan/plan";
import { type ExitCode, exitCode } from "../../errors/exit-code.ts";

/** What a run that ended is to its caller: only a whole one is a success, and a refusal is told apart. */
export function executionCode(plan: Plan): ExitCode {
  if (plan.executed && !["failed", "partial", "interrupted"].includes(plan.state)) return exitCode.ok;
  return plan.steps.some(isRefused) ? exitCode.refused : exitCode.failed;
}

function isRefused({ failureClass }: PlanStep): boolean {
  return failureClass === "permission_denied";
}
