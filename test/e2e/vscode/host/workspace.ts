import assert from "node:assert/strict";
import * as vscode from "vscode";

/** Absolute path of the window's folder. */
export function workspaceRoot(): string {
  const folder = vscode.workspace.workspaceFolders?.[0];
  assert.ok(folder, "a folder is open");
  return folder.uri.fsPath;
}
