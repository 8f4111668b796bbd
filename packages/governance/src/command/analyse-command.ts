import { errorMessage } from "@gennai/protocol/error-message";
import type { CommandAnalysis } from "../command-analysis.ts";
import { AnalysisReport, TooMuch } from "./analysis-report.ts";
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

/** Reasons why a command's text may not mean what a user sees. Empty for ordinary text, including other scripts. */
function suspiciousText(text: string): readonly string[] {
  const found: string[] = [];
  if (text.length > longest) found.push("a command longer than 64 KiB");
  if (text.includes("\0")) found.push("a NUL character");
  if (/[\u0001-\u0008\u000b-\u001f\u007f-\u009f]/.test(text)) found.push("a control character");
  if (/^[\u0000-\u007f]*$/.test(text)) return found;
  if (/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(text))
    found.push("a character that changes the direction of the text");
  if (/[\u00ad\u034f\u115f\u1160\u180e\u200b-\u200d\u2060-\u2065\u3164\ufeff\uffa0]|\udb40[\udc00-\udfff]/.test(text)) {
    found.push("an invisible character");
  }
  if (/[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/.test(text))
    found.push("a character that only looks like a blank");
  // Full-width forms and other shapes that read as shell operators.
  if (/[\uff01-\uff5e\u2024\u2044\u2215\u29f8\u037e\u01c3\u2223]/.test(text))
    found.push("a character that only looks like ASCII");
  if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text))
    found.push("a broken character");
  return found;
}
