import type { AnalysisReport } from "./analysis-report.ts";
import { isInterpreter, pathsInCode, startsOrDeletes, truncates } from "./interpreters.ts";
import type { Invocation } from "./invocation.ts";

/** Code in the words of an interpreter, or on its input: the files it may name, and the plainest ways to harm. */
export function interpretCode({ name, words, input, ...place }: Invocation, report: AnalysisReport): void {
  if (!isInterpreter(name)) return;
  for (const text of [...words.map(({ literal }) => literal), input.text]) {
    if (text === undefined || !/[\s"'`(]/.test(text)) continue;
    if (startsOrDeletes.test(text)) {
      const reason = `The ${name} code starts another program, or deletes. Run it as a command of its own.`;
      report.danger({ rule: "floor/inline-code", verdict: "deny", reason, high: true });
    }
    const access = truncates.test(text) ? "write" : "unknown";
    for (const path of pathsInCode(text)) report.mention(path, { name, words, input, ...place }, access);
  }
}
