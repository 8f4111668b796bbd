import type { AnalysisReport } from "./analysis-report.ts";
import { decidesPrograms, isRefusedVariable } from "./environment.ts";

/** A variable that programs started here will see. */
export function judgeVariable(name: string, value: string | undefined, report: AnalysisReport): void {
  if (isRefusedVariable(name, value)) {
    report.danger({
      rule: "floor/environment",
      verdict: "deny",
      reason: `${name} makes other programs run what it says.`,
      high: true,
    });
  } else if (decidesPrograms(name, value)) report.unresolved(`a value for ${name}, which decides what programs run`);
}
