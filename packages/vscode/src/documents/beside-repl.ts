import * as vscode from "vscode";

/** View type of the REPL in an editor group. */
export const replPanelType = "gennai.replPanel";

/**
 * The editor group for what a user opens from the REPL: if the REPL is in an editor group, another group, so that the
 * conversation stays visible. undefined: the editor's default.
 */
export function columnBesideRepl(): vscode.ViewColumn | undefined {
  const { activeTabGroup, all } = vscode.window.tabGroups;
  const input = activeTabGroup.activeTab?.input;
  // VS Code puts a prefix before the type.
  if (!(input instanceof vscode.TabInputWebview) || !input.viewType.endsWith(replPanelType)) return undefined;
  return all.find((group) => group !== activeTabGroup)?.viewColumn ?? vscode.ViewColumn.Beside;
}
