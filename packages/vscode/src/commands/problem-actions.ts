import * as vscode from "vscode";

/** “Fix with Gennai” and “Explain with Gennai” for problems that language tools report in workspace files, as commands. */
export class ProblemActions implements vscode.CodeActionProvider {
  provideCodeActions(
    document: vscode.TextDocument,
    _range: vscode.Range,
    { diagnostics }: vscode.CodeActionContext,
  ): vscode.CodeAction[] {
    if (diagnostics.length === 0 || !vscode.workspace.isTrusted) return [];
    if (vscode.workspace.getWorkspaceFolder(document.uri) === undefined) return [];
    const action = (title: string, command: string) => {
      const made = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
      made.diagnostics = [...diagnostics];
      made.command = { title, command, arguments: [document.uri, diagnostics] };
      return made;
    };
    return [action("Fix with Gennai", "gennai.fixProblem"), action("Explain with Gennai", "gennai.explainProblem")];
  }
}
