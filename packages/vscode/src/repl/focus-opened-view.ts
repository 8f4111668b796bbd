import type * as vscode from "vscode";

const shownKey = "gennai.replShown";

/**
 * Gives the REPL the focus when a person opens it: VS Code itself does so with a view that is loaded already, and not with one that is
 * about to load. A view that comes back with its window takes the focus from nobody.
 */
export function focusOpenedView(view: vscode.WebviewView, state: vscode.Memento): void {
  if (state.get(shownKey) !== true) view.show(false);
  void state.update(shownKey, true);
  view.onDidChangeVisibility(() => void state.update(shownKey, view.visible));
}
