import { fencedText } from "@gennai/client/session/text/fenced-text";
import { writtenMention } from "@gennai/client/session/text/mentions";

/** A problem as its language tool reports it. */
export interface ReportedProblem {
  /** 1-based. */
  readonly startLine: number;
  readonly endLine: number;
  readonly column: number;
  readonly severity: "error" | "warning" | "information" | "hint";
  readonly message: string;
  /** E.g. `ts 2322`; empty: unknown. */
  readonly source: string;
}

const messageLimit = 4000;

/** The prompt for fixing a problem. @param path relative to the workspace */
export function fixPrompt(path: string, problems: readonly ReportedProblem[]): string {
  return `Fix ${problems.length === 1 ? "this problem" : "these problems"} in ${place(path, problems)}:\n\n${listed(path, problems)}`;
}

export function explainPrompt(path: string, problems: readonly ReportedProblem[]): string {
  const what =
    problems.length === 1 ? "this problem means and where it comes" : "these problems mean and where they come";
  return `Explain what ${what} from in ${place(path, problems)}. Change nothing.\n\n${listed(path, problems)}`;
}

function place(path: string, problems: readonly ReportedProblem[]): string {
  const startLine = Math.min(...problems.map((problem) => problem.startLine));
  const endLine = Math.max(...problems.map((problem) => problem.endLine));
  return writtenMention(path, { startLine, endLine });
}

/** In a code fence: a tool's text about a file is data, and may quote the file. */
function listed(path: string, problems: readonly ReportedProblem[]): string {
  const lines = problems.map(({ startLine, column, severity, message, source }) => {
    const from = source === "" ? "" : ` (${source})`;
    return `${path}:${startLine}:${column} ${severity}${from}: ${message.slice(0, messageLimit)}`;
  });
  return fencedText(lines.join("\n"));
}
