import * as vscode from "vscode";

/** Of the REPL in an editor group. */
export const replPanelType = "gennai.replPanel";

/**
 * Where something opens that a person asked the REPL for: while the REPL stands in an editor group, in another one, for over it the
 * conversation would be gone. undefined: where the editor opens it by itself.
 */
export function columnBesideRepl(): vscode.ViewColumn | undefined {
  const { activeTabGroup, all } = vscode.window.tabGroups;
  const input = activeTabGroup.activeTab?.input;
  // VS Code puts a word of its own in front of the type.
  if (!(input instanceof vscode.TabInputWebview) || !input.viewType.endsWith(replPanelType)) return undefined;
  return all.find((group) => group !== activeTabGroup)?.viewColumn ?? vscode.ViewColumn.Beside;
}
