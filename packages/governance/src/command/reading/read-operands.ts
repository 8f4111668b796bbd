import type { AnalysisReport } from "../analysis-report.ts";
import type { Invocation } from "../invocation.ts";
import type { ResolvedWord } from "../resolve-word.ts";

/** Reports the files that operands name. False when one of them may come out as an option, or nobody can tell what it names. */
export function readOperands(
  words: readonly ResolvedWord[],
  invocation: Invocation,
  report: AnalysisReport,
  access: "read" | "write",
): boolean {
  let proven = !invocation.appendsInput;
  for (const word of words) {
    report.path(word, access, invocation);
    if (word.kind === "dynamic" || (word.kind === "glob" && /^[*?[@!+]/.test(word.raw))) proven = false;
  }
  return proven;
}
