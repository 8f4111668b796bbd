import { fencedText } from "@gennai/client/session/text/fenced-text";
import { canMention, writtenMention } from "@gennai/client/session/text/mentions";
import * as vscode from "vscode";
import { showInformation } from "../editor/notifications.ts";
import { nameOfUri } from "../editor/workspace-uri.ts";
import type { Command, Workbench } from "./workbench.ts";

/** Sends a prompt about the problems of a code action, else about those at the cursor. */
export const fixProblem: Command = async (workbench, args) => {
  const found = problemsOf(workbench, args);
  if (found === undefined) return;
  await workbench.session();
  await workbench.views.reveal();
  workbench.views.ask({ type: "prompt", text: fixPrompt(found.path, found.problems), send: true });
};

/** Puts the question into the prompt, where the user can add to it before sending. */
export const explainProblem: Command = async (workbench, args) => {
  const found = problemsOf(workbench, args);
  if (found === undefined) return;
  await workbench.views.reveal();
  workbench.views.ask({ type: "prompt", text: explainPrompt(found.path, found.problems), send: false });
};

interface ProblemsOfFile {
  readonly path: string;
  readonly problems: readonly ReportedProblem[];
}

function problemsOf({ root }: Workbench, [uri, diagnostics]: readonly unknown[]): ProblemsOfFile | undefined {
  const editor = vscode.window.activeTextEditor;
  const named = uri instanceof vscode.Uri ? uri : editor?.document.uri;
  const path = named === undefined ? undefined : nameOfUri(root, named);
  if (named === undefined || path === undefined || !canMention(path)) {
    void showInformation("Open a file of the workspace that Gennai works in.");
    return undefined;
  }
  const chosen = Array.isArray(diagnostics)
    ? diagnostics.filter((each) => each instanceof vscode.Diagnostic)
    : vscode.languages
        .getDiagnostics(named)
        .filter(({ range }) => editor !== undefined && range.intersection(editor.selection) !== undefined);
  if (chosen.length > 0) return { path, problems: chosen.map(reported) };
  void showInformation("No problem is reported where the cursor is.");
  return undefined;
}

const severities = {
  [vscode.DiagnosticSeverity.Error]: "error",
  [vscode.DiagnosticSeverity.Warning]: "warning",
  [vscode.DiagnosticSeverity.Information]: "information",
  [vscode.DiagnosticSeverity.Hint]: "hint",
} as const;

function reported({ range, severity, message, source = "", code }: vscode.Diagnostic): ReportedProblem {
  const number = typeof code === "object" ? code.value : (code ?? "");
  return {
    startLine: range.start.line + 1,
    endLine: range.end.line + 1,
    column: range.start.character + 1,
    severity: severities[severity],
    message,
    source: `${source} ${number}`.trim(),
  };
}

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
