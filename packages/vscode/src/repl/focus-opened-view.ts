import type * as vscode from "vscode";

const shownKey = "gennai.replShown";

/**
 * Gives the REPL the focus when a person opens it: VS Code does so for a loaded view, but not for one that must load first. A
 * view that is restored with its window does not take the focus.
 */
export function focusOpenedView(view: vscode.WebviewView, state: vscode.Memento): void {
  if (state.get(shownKey) !== true) view.show(false);
  void state.update(shownKey, true);
  view.onDidChangeVisibility(() => void state.update(shownKey, view.visible));
}
