import type { PlanIssue, PlanStepContract } from "@gennai/protocol/model/governance/plan";
import { highestRisk, type Risk } from "@gennai/protocol/model/governance/risk";
import type { ParsedPlan, PlanAction } from "@gennai/protocol/plan-schema";

/** What every step must state before it may run (seed 003, section 6), and the order in which steps depend on each other. */
export interface StepContract extends PlanStepContract {
  readonly actions: readonly PlanAction[];
}

/** The tool that an action runs as. */
export function toolOfAction(action: PlanAction): "Bash" | "Write" {
  return action.type === "command" ? "Bash" : "Write";
}

/** Tool names that a step may use for its actions. A patch is an edit in plain words. */
const namesOf: Record<PlanAction["type"], readonly string[]> = {
  command: ["Bash"],
  file_write: ["Write"],
  file_patch: ["Edit", "Write"],
};

/** The contract of every step, with a risk that is at least the computed one. Steps of seed 000 get theirs computed. */
export function stepContracts(parsed: ParsedPlan, computedRisk: ReadonlyMap<string, Risk>): readonly StepContract[] {
  return parsed.plan.steps.map((step, index): StepContract => {
    const previous = parsed.plan.steps[index - 1]?.id;
    const dependsOn = step.depends_on ?? (previous === undefined ? [] : [previous]);
    const risk = highestRisk([computedRiskOf(step, computedRisk), declaredRiskOf(step)]);
    const verification = [...("verification_plan" in step ? step.verification_plan : []), ...(step.verify ?? [])];
    const title = step.title ?? ("description" in step ? step.description : "");
    return {
      id: step.id,
      title,
      intent: step.intent ?? "",
      description: "description" in step ? step.description : title,
      tool: "tool" in step ? step.tool : [...new Set(step.actions.map(toolOfAction))].join(", "),
      risk,
      requiresConfirmation: risk !== "low" || ("requires_confirmation" in step && step.requires_confirmation),
      verificationPlan: [...new Set(verification.map(({ command }) => command))],
      dependsOn,
      actions: step.actions,
    };
  });
}

/** The risk that the plan declares for a step; `low` if none. It can only raise the computed risk. */
export function declaredRiskOf(step: ParsedPlan["plan"]["steps"][number]): Risk {
  return "risk_level" in step ? step.risk_level : "low";
}

/** A step without a computed risk is of high risk. */
function computedRiskOf({ id }: { readonly id: string }, computedRisk: ReadonlyMap<string, Risk>): Risk {
  return computedRisk.get(id) ?? "high";
}

/** Where a plan's statements about its steps are weaker than what they do, with the step, the field and the correction. */
export function contractIssues(parsed: ParsedPlan, computedRisk: ReadonlyMap<string, Risk>): readonly PlanIssue[] {
  if (parsed.form === "seed") return [];
  const issues: PlanIssue[] = [];
  for (const [index, step] of parsed.plan.steps.entries()) {
    const computed = computedRiskOf(step, computedRisk);
    const risk = highestRisk([computed, declaredRiskOf(step)]);
    const issue = (field: string, message: string): void => {
      issues.push({
        path: `steps[${index}].${field}`,
        message: `Step ${JSON.stringify(step.id)}: ${message}`,
        level: "contract",
      });
    };
    if (risk !== step.risk_level) {
      issue(
        "risk_level",
        `risk_level says ${step.risk_level} and its actions are of ${computed} risk: say ${computed}.`,
      );
    }
    if (risk !== "low" && !step.requires_confirmation) {
      issue("requires_confirmation", `a step of ${risk} risk needs requires_confirmation: true.`);
    }
    const wrong = step.actions.find((action) => !namesOf[action.type].includes(step.tool));
    if (wrong !== undefined) {
      const names = namesOf[wrong.type].join(" or ");
      issue(
        "tool",
        `the tool ${JSON.stringify(step.tool)} does not do a ${wrong.type}: name ${names}, one tool a step.`,
      );
    }
  }
  return issues;
}
