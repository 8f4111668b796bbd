import type { AnalysisReport } from "./analysis-report.ts";
import { findExpression } from "./find-expression.ts";
import type { Invocation } from "./invocation.ts";
import { literalWord } from "./resolve-word.ts";

/** Where find starts, what it writes, and what it deletes. Commands it starts are looked at by themselves. */
export function findPaths(invocation: Invocation, report: AnalysisReport): void {
  const { starts, commands, writes, deletes, names, alternatives } = findExpression(invocation.words);
  // What `-exec` starts may read what is found.
  for (const start of starts) report.path(start, commands.length > 0 ? "read" : "list", invocation);
  if (commands.length > 0) for (const name of names) report.aimedGlob(name);
  for (const file of writes) report.path(file, "write", invocation);
  if (!deletes) return;
  const named = alternatives ? [] : names;
  for (const start of starts.length > 0 ? starts : [literalWord(".")]) {
    const forms = start.forms.flatMap((form) => named.map((name) => `${form.replace(/\/+$/, "")}/${name}`));
    report.path(
      named.length > 0 ? { raw: start.raw, kind: "glob", literal: undefined, forms } : start,
      "delete",
      invocation,
    );
  }
}
