import type { AnalysisReport } from "../analysis-report.ts";
import type { Invocation } from "../invocation.ts";
import { parseOptions } from "../option-spec.ts";
import { awkOnlyReads } from "./awk-program.ts";
import { readOperands } from "./read-operands.ts";

/** Whether awk provably reads: by its program, which must stand there word for word. */
export function proveAwk(invocation: Invocation, report: AnalysisReport): boolean {
  const parsed = parseOptions(invocation.words, "-F= -v= --field-separator= --assign= --posix --re-interval --csv", {
    stopAtOperand: true,
  });
  const [program, ...operands] = parsed.operands;
  if (program === undefined) return false;
  const pure = program.literal !== undefined && awkOnlyReads(program.literal);
  return (
    readOperands(operands, invocation, report, "read") &&
    pure &&
    parsed.unknown === undefined &&
    parsed.values.every((value) => value.word.literal !== undefined)
  );
}
