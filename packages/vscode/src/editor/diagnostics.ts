import type { Diagnostic } from "@gennai/protocol/model/session/editor-requests";
import * as vscode from "vscode";
import { realPathOf } from "./real-path.ts";
import { nameInWorkspace, resolveInWorkspace } from "./workspace-paths.ts";
import { pathOf } from "./workspace-uri.ts";

/** Most diagnostics in one answer. */
const most = 2000;

const severities = {
  [vscode.DiagnosticSeverity.Error]: "error",
  [vscode.DiagnosticSeverity.Warning]: "warning",
  [vscode.DiagnosticSeverity.Information]: "information",
  [vscode.DiagnosticSeverity.Hint]: "hint",
} as const;

/** What the editor's language tools report about files of the workspace, the worst first; without paths: about all files. */
export async function listDiagnostics(workspace: string, paths: readonly string[]): Promise<readonly Diagnostic[]> {
  const wanted = await Promise.all(paths.map((path) => resolveInWorkspace(workspace, path)));
  const root = await realPathOf(workspace);
  const found: Diagnostic[] = [];
  for (const [uri, diagnostics] of vscode.languages.getDiagnostics()) {
    const named = pathOf(uri);
    if (named === undefined) continue;
    const absolute = await realPathOf(named).catch(() => named);
    const path = nameInWorkspace(root, absolute);
    if (path === undefined || (wanted.length > 0 && !wanted.some((file) => file.absolute === absolute))) continue;
    for (const { range, severity, message, source } of diagnostics) {
      found.push({
        path,
        line: range.start.line + 1,
        column: range.start.character + 1,
        severity: severities[severity],
        message: message.slice(0, 4000),
        source: source ?? "",
      });
    }
  }
  const rank = { error: 0, warning: 1, information: 2, hint: 3 };
  return found.sort((one, other) => rank[one.severity] - rank[other.severity]).slice(0, most);
}
