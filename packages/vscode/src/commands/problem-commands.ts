import { canMention } from "@gennai/client/session/text/mentions";
import * as vscode from "vscode";
import { showInformation } from "../editor/notifications.ts";
import { nameOfUri } from "../editor/workspace-uri.ts";
import { explainPrompt, fixPrompt, type ReportedProblem } from "./problem-prompt.ts";
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
