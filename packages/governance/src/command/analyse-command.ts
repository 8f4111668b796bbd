import { errorMessage } from "@gennai/protocol/error-message";
import { AnalysisReport, TooMuch } from "./analysis-report.ts";
import type { CommandAnalysis } from "./command-analysis.ts";
import { suspiciousText } from "./suspicious-text.ts";
import { walkScript } from "./walk-script.ts";
import type { Place } from "./words/invocation.ts";
import { absolutePath } from "./words/resolve-path.ts";
import { initialScope } from "./words/shell-scope.ts";

export interface AnalyseOptions {
  /** Absolute directory in which the command would start. */
  readonly cwd: string;
  /** Absolute home directory of the user. */
  readonly home: string;
  /** Absolute root of the workspace; the directory it starts in when left out. */
  readonly workspace?: string;
}

/** More than this is not parsed at all: a person cannot read it either. */
const longest = 64 * 1024;

/**
 * Determines what a shell command would do, from its syntax tree only. Never throws: what cannot be determined goes into
 * `unresolved`, and then nothing counts as proven.
 */
export function analyseCommand(text: string, options: AnalyseOptions): CommandAnalysis {
  const cwd = absolutePath(options.cwd, "/");
  const place: Place = {
    cwd,
    home: absolutePath(options.home, "/"),
    workspace: absolutePath(options.workspace ?? cwd, "/"),
  };
  const report = new AnalysisReport(place);
  for (const reason of suspiciousText(text)) report.unresolved(reason);
  if (text.length <= longest) {
    try {
      walkScript(text, initialScope(cwd, place.home), { report, place, wrappers: [], depth: 0 });
    } catch (error) {
      // Input that brings a parser down must not pass for harmless.
      if (error instanceof TooMuch) report.unresolved(error.message);
      else report.unresolved(`text that cannot be analysed: ${errorMessage(error)}`);
    }
  }
  return report.finish(text);
}
