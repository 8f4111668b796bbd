import type { AnalysisReport } from "../analysis-report.ts";
import type { ResolvedWord } from "../resolve-word.ts";
import { secretInGlob } from "../secret-paths.ts";

/** Reports a glob that picks files with secrets out. False when nobody can tell what it picks. */
export function checkGlob(word: ResolvedWord, report: AnalysisReport): boolean {
  if (word.literal === undefined) return false;
  if (word.literal.startsWith("!")) return true;
  const secret = secretInGlob(word.literal, { dot: true });
  if (secret?.how === "aimed") {
    report.danger({
      rule: "floor/credentials",
      verdict: "deny",
      reason: `${word.raw} reaches ${secret.kind}; its content is not for the agent.`,
      high: true,
    });
  }
  return true;
}
