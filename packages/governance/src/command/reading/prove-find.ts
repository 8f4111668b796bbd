import type { AnalysisReport } from "../analysis-report.ts";
import { findExpression } from "../find-expression.ts";
import type { Invocation } from "../invocation.ts";
import { literalWord } from "../resolve-word.ts";
import { checkGlob } from "./check-glob.ts";

/** Whether find provably reads, apart from commands it starts, which are looked at by themselves. Reports what it writes and deletes. */
export function proveFind(invocation: Invocation, report: AnalysisReport): boolean {
  const expression = findExpression(invocation.words);
  // What `-exec` starts may read what is found.
  for (const start of expression.starts)
    report.path(start, expression.commands.length > 0 ? "read" : "list", invocation);
  if (expression.commands.length > 0) for (const name of expression.names) checkGlob(literalWord(name), report);
  for (const file of expression.writes) report.path(file, "write", invocation);
  const named = expression.alternatives ? [] : expression.names;
  if (expression.deletes) {
    const starts = expression.starts.length > 0 ? expression.starts : [literalWord(".")];
    for (const start of starts) {
      const forms = start.forms.flatMap((form) => named.map((name) => `${form.replace(/\/+$/, "")}/${name}`));
      report.path(
        named.length > 0 ? { raw: start.raw, kind: "glob", literal: undefined, forms } : start,
        "delete",
        invocation,
      );
    }
  }
  return (
    expression.unknown === undefined &&
    expression.writes.length === 0 &&
    !expression.deletes &&
    !invocation.appendsInput
  );
}
